// Shapes and their registry, the usual mix of modern and old C++.
#pragma once
#include <map>
#include <memory>
#include "shape.h"

#define SHAPE_API __attribute__((visibility("default")))
#define DECLARE_SHAPE(name) class name;

namespace geometry {

class Canvas;
struct Options;

using Real = double;
template <typename T>
using Ptr = std::shared_ptr<T>;
typedef std::map<std::string, int> Index;

enum class Kind : unsigned char {
	Circle,
	Square = 4,
};

enum Legacy { LegacyA, LegacyB };

constexpr Real pi = 3.14159;
static int instances;
extern const char *version;
inline constexpr auto square = [](Real x) { return x * x; };

/// A point in the plane.
struct Point {
	Real x = 0;
	Real y = 0;

	Point() = default;
	Point(Real x, Real y) : x(x), y(y) {}
	explicit Point(const Options &options);
	~Point() = default;

	Point operator+(const Point &other) const { return {x + other.x, y + other.y}; }
	bool operator==(const Point &other) const;
	Real &operator[](int index);
	explicit operator bool() const { return x != 0; }
	Real length() const noexcept;
};

/**
 * The base of all shapes.
 */
class SHAPE_API Shape : public std::enable_shared_from_this<Shape>, private Named {
public:
	using Id = unsigned long;
	static constexpr int limit = 16;

	explicit Shape(Kind kind) : kind_(kind) { ++instances; }
	Shape(const Shape &) = delete;
	virtual ~Shape() {}

	virtual Real area() const = 0;
	virtual void draw(Canvas &canvas) const;
	static Ptr<Shape> make(Kind kind);

	template <typename Visitor>
	auto accept(Visitor &&visitor) const -> decltype(visitor(*this)) {
		return visitor(*this);
	}

	friend bool operator<(const Shape &a, const Shape &b);
	friend class Registry;

	class Builder {
	public:
		Builder &size(Real value);
		Ptr<Shape> build();

	private:
		Real size_;
	};

protected:
	Kind kind_;
	mutable int cache_[4];
	void (*callback_)(int);

private:
	struct Impl;
	std::unique_ptr<Impl> impl_;
};

class Circle final : public Shape {
public:
	explicit Circle(Real radius)
		: Shape(Kind::Circle), radius_(radius) {
		auto check = [this](Real r) {
			return r >= 0;
		};
		check(radius);
	}

	Real area() const override { return pi * radius_ * radius_; }

private:
	Real radius_;
};

template <typename T, int N>
class Ring {
	T items_[N];

public:
	void push(T item);
	T pop() {
		struct Local {
			int n;
		};
		return items_[0];
	}
};

template <>
class Ring<bool, 8> {
	unsigned char bits_;
};

template <typename T, int N>
void Ring<T, N>::push(T item) {
	items_[0] = item;
}

template <typename T>
concept Drawable = requires(T t) { t.draw(); };

template <Drawable T>
void draw_all(const T &items) {
	for (auto &item : items) item.draw();
}

union Word {
	int i;
	float f;
};

namespace detail {
namespace {
int hidden = 0;
void helper() {}
}  // namespace

template <class T>
T clamp(T v, T lo, T hi) { return v < lo ? lo : v; }
}  // namespace detail

inline namespace v2 {
void renamed();
}

}  // namespace geometry

namespace geometry::io {
bool load(const char *path);
}

using namespace geometry;
namespace geo = geometry;

Point::Point(const Options &options) : x(0), y(0) {}

Real Point::length() const noexcept {
	return x * x + y * y;
}

bool geometry::Point::operator==(const Point &other) const {
	return x == other.x;
}

geometry::Real &geometry::Point::operator[](int index) { return index ? y : x; }

geometry::Shape::~Shape() {}

struct Shape::Impl {
	int refs;
	void ref() { refs++; }
};

extern "C" {
int shape_count(void);
void shape_free(void *shape) {
	auto release = [&](int n) { return n; };
	release(1);
}
}

extern "C" int shape_version();

static std::unique_ptr<Shape> global_shape;

int main(int argc, char *argv[]) try {
	return shape_count();
} catch (...) {
	return 1;
}

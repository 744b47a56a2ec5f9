import Foundation
import struct UIKit.CGFloat
@testable import Core

/// The version of the format.
public let version = "1.2"
private var counter: Int = 0, total = 1
var computed: Int {
    return counter + 1
}

typealias Handler = (Result<Data, Error>) -> Void

/// Anything with an area.
///
/// More about it.
public protocol Shape: AnyObject, Equatable {
    associatedtype Unit
    static var defaultName: String { get }
    var name: String { get set }

    init(name: String)
    func area() -> Double
    mutating func scale(by factor: Double)
}

public enum Failure: Error {
    case notFound
    case invalid(reason: String, code: Int)
    case network, timeout
    indirect case wrapped(Failure)

    var isFatal: Bool {
        switch self {
        case .notFound: return false
        default: return true
        }
    }

    static func from(code: Int) -> Failure { .notFound }
}

enum Planet: Int, CaseIterable {
    case mercury = 1
    case venus
}

/**
 A point in the plane.
 */
@frozen
public struct Point: Hashable {
    public var x: Double
    public var y = 0.0
    static let zero = Point(x: 0)
    private(set) var tag: String? = nil

    var length: Double {
        get { (x * x + y * y).squareRoot() }
        set {
            x = newValue
        }
    }

    var observed: Int = 0 {
        willSet { print(newValue) }
        didSet { print(oldValue) }
    }

    init(x: Double, y: Double = 0) {
        self.x = x
        self.y = y
    }

    init?(text: String) {
        return nil
    }

    mutating func move(dx: Double, dy: Double) {
        x += dx
    }

    static func + (a: Point, b: Point) -> Point {
        return Point(x: a.x + b.x, y: a.y + b.y)
    }

    subscript(index: Int) -> Double {
        get { return index == 0 ? x : y }
        set { x = newValue }
    }
}

@available(iOS 13, *)
@objc
open class Circle: Base, Drawable {
    private let radius: Double
    weak var delegate: CircleDelegate?
    lazy var cache: [String: Double] = {
        return [:]
    }()
    var onTap: (() -> Void)?

    public required init(radius: Double) {
        self.radius = radius
        super.init()
    }

    convenience init() {
        self.init(radius: 1)
    }

    deinit {
        print("gone")
    }

    /// Draws it.
    @discardableResult
    override public func draw<T: Canvas>(
        on canvas: T,
        with options: [Option] = []
    ) async throws -> Bool where T: Sendable {
        func inner(_ value: Int) -> Int {
            return value + 1
        }
        let local = 3
        let double = { (v: Int) -> Int in v * 2 }
        return inner(double(local)) > 0
    }

    class func make() -> Circle { Circle(radius: 1) }

    private final class Storage {
        var items: [Int] = []
        func clear() { items = [] }
    }
}

actor Counter {
    var value = 0

    nonisolated func describe() -> String { "counter" }

    func increment() async -> Int {
        value += 1
        return value
    }
}

extension Point: CustomStringConvertible {
    public var description: String { "(\(x), \(y))" }

    func distance(to other: Point) -> Double {
        return 0
    }
}

extension Array where Element == Point {
    var center: Point { Point.zero }
}

infix operator **: MultiplicationPrecedence

func ** (base: Double, power: Double) -> Double {
    return pow(base, power)
}

// Finds the larger one.
func largest<T: Comparable>(_ a: T, _ b: T) -> T {
    return a > b ? a : b
}

let square = { (x: Int) -> Int in
    return x * x
}

#if os(Linux)
func platform() -> String { "linux" }
#else
func platform() -> String { "other" }
#endif

@main
struct App {
    static func main() {
        print(largest(1, 2))
    }
}

/*
 * The accounts of a small bank.
 */
package com.example.bank;

import java.util.List;
import java.util.function.*;
import static java.lang.Math.max;

/**
 * The base of all accounts.
 *
 * @param <T> what is kept
 */
@Entity
@Table(name = "accounts")
public abstract class Account<T extends Comparable<T>> extends Base implements Payable, Cloneable {
    private static final int LIMIT = 100;
    protected int count, total = 0, history[] = new int[4];
    public final List<T> items = new ArrayList<>();
    volatile boolean open;
    private final Comparator<T> order = new Comparator<T>() {
        @Override
        public int compare(T a, T b) {
            return a.compareTo(b);
        }
    };
    Function<Integer, Integer> twice = x -> x * 2;

    static {
        int setup = LIMIT;
    }

    {
        count = 1;
    }

    /** Makes an account. */
    protected Account(String owner) {
        this(owner, 0);
    }

    @Inject
    public Account(String owner, int start) throws IOException {
        class Local {
            int field;

            void method() {
            }
        }
        new Local().method();
    }

    public abstract void close();

    /**
     * Adds to the balance.
     */
    @Override
    @SuppressWarnings({"unchecked", "rawtypes"})
    public synchronized <R> R deposit(
            final T amount,
            Function<? super T, R> mapper) throws IllegalStateException {
        Runnable task = new Runnable() {
            public void run() {
                System.out.println("run");
            }
        };
        Supplier<String> supplier = () -> {
            return "value";
        };
        int local = 3;
        return mapper.apply(amount);
    }

    // Called by the collector.
    protected void finalize() {}

    int[] values()[] { return null; }

    native int nativeCall(long handle);

    static class Node<K, V> {
        final K key;
        Node<K, V> next;

        Node(K key) {
            this.key = key;
        }
    }

    private class Inner {
        int depth() {
            return count;
        }
    }

    interface Listener {
        int VERSION = 1, OTHER = 2;

        void changed(Account<?> account);

        default void closed() {
        }

        static Listener none() {
            return account -> { };
        }
    }
}

/** What an account may do. */
enum Rights implements Supplier<String> {
    NONE,
    /** May read. */
    READ("r"),
    @Deprecated
    WRITE("w") {
        @Override
        public String get() {
            return "write";
        }
    };

    private final String code;

    Rights() {
        this("");
    }

    Rights(String code) {
        this.code = code;
    }

    public String get() {
        return code;
    }
}

@Retention(RetentionPolicy.RUNTIME)
@interface Audited {
    String value() default "all";

    int level() default 1;
}

record Point(int x, int y) implements Comparable<Point> {
    static final Point ZERO = new Point(0, 0);

    Point {
        if (x < 0) throw new IllegalArgumentException();
    }

    Point(int both) {
        this(both, both);
    }

    public int compareTo(Point other) {
        return x - other.x;
    }
}

sealed interface Shape permits Circle, Square {
    double area();
}

final class Circle implements Shape {
    double radius;

    public double area() {
        return Math.PI * radius * radius;
    }
}

non-sealed class Square implements Shape {
    public double area() { return 1; }

    public String text() {
        return """
            class Fake {
              void fake() {}
            }
            """;
    }
}

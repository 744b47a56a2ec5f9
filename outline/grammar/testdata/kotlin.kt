@file:JvmName("Shapes")

package com.example.shapes

import kotlin.math.PI
import java.util.concurrent.ConcurrentHashMap as Table
import com.example.util.*

/** The version of the format. */
const val VERSION = 3
private val registry = mutableMapOf<String, Shape>()
var counter: Int = 0
    private set

val isBusy: Boolean
    get() = counter > 0

val <T> List<T>.second: T
    get() = this[1]

lateinit var config: Config

typealias Handler = (event: String, code: Int) -> Unit

/**
 * Anything with an area.
 *
 * More about it.
 */
interface Shape {
    val name: String
    val sides: Int get() = 0

    fun area(): Double

    fun describe(): String {
        return "$name with area ${area()}"
    }

    companion object {
        const val UNIT = "cm"

        fun of(name: String): Shape = TODO()
    }
}

sealed class Result<out T> {
    data class Ok<T>(val value: T) : Result<T>()
    data class Failure(val error: Throwable, var retries: Int = 0) : Result<Nothing>()
    object Empty : Result<Nothing>()
}

enum class Color(val rgb: Int) {
    RED(0xFF0000),
    GREEN(0x00FF00) {
        override fun warm() = false
    },
    BLUE(0x0000FF);

    open fun warm(): Boolean = true

    companion object {
        fun parse(text: String) = valueOf(text.uppercase())
    }
}

annotation class Route(val path: String)

@Route("/circle")
@Deprecated("use Ellipse")
open class Circle(
    val radius: Double,
    private var label: String = "",
    factor: Int
) : Shape, Comparable<Circle> {

    override val name = "circle"
    private val cache by lazy { mutableListOf<Double>() }
    var onChange: ((Double) -> Unit)? = null
    protected open var scale: Double = 1.0
        set(value) {
            field = value
            onChange?.invoke(value)
        }

    init {
        require(radius >= 0)
    }

    constructor(diameter: Int) : this(diameter / 2.0, "", 1)

    override fun area(): Double = PI * radius * radius

    override operator fun compareTo(other: Circle): Int {
        fun key(c: Circle): Double {
            return c.radius
        }
        val local = 3
        val compare = { a: Double, b: Double -> a.compareTo(b) }
        return compare(key(this), key(other))
    }

    internal suspend inline fun <reified T> load(crossinline block: () -> T): T {
        return block()
    }

    infix fun joins(other: Circle) = radius == other.radius

    inner class Segment(val angle: Double) {
        fun length() = angle * radius
    }

    class Builder {
        private var radius = 0.0

        fun radius(value: Double) = apply { radius = value }
    }

    companion object Factory {
        @JvmStatic
        fun unit() = Circle(1.0, "unit", 1)
    }
}

object Registry : Table<String, Shape>() {
    private val lock = Any()

    @Synchronized
    fun register(shape: Shape) {
        synchronized(lock) { put(shape.name, shape) }
    }
}

@JvmInline
value class Meters(val value: Double)

abstract class Visitor<R> {
    abstract fun visit(shape: Shape): R
    protected abstract val depth: Int
}

fun String.shout(times: Int = 1): String = uppercase().repeat(times)

// Adds all numbers.
tailrec fun sum(numbers: List<Int>, total: Int = 0): Int =
    if (numbers.isEmpty()) total else sum(numbers.drop(1), total + numbers.first())

private fun <T : Comparable<T>> largest(
    first: T,
    second: T,
): T {
    return if (first > second) first else second
}

val square = { x: Int -> x * x }
val cube = fun(x: Int): Int { return x * x * x }

fun main(args: Array<String>) {
    val listener = object : Runnable {
        override fun run() {
            println("run")
        }
    }
    listener.run()
    class Local(val n: Int) {
        fun twice() = n * 2
    }
    println(Local(2).twice())
}

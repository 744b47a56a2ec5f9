package com.example
package shapes

import scala.collection.mutable
import scala.util.{Failure, Success => Ok}
import java.io._

/** The version of the format. */
package object shapes {
  val Version = 3
  type Handler = String => Unit
}

/**
 * Anything with an area.
 *
 * More about it.
 */
sealed trait Shape extends Product with Serializable {
  type Unit <: AnyRef
  val name: String
  var scale: Double
  def area: Double
  def describe(prefix: String = ""): String = {
    def helper(n: Int): String = n.toString
    val local = 3
    prefix + helper(local)
  }
}

case class Circle(radius: Double, private val label: String = "") extends Shape {
  type Unit = String
  override val name = "circle"
  var scale = 1.0
  lazy val cache: mutable.Map[Int, Double] = mutable.Map.empty

  def this(diameter: Int) = this(diameter / 2.0)

  @inline override def area: Double = math.Pi * radius * radius

  @deprecated("use +", "1.0")
  def +(other: Circle): Circle = Circle(radius + other.radius)

  def unary_- : Circle = Circle(-radius)

  private[shapes] def scaled(by: Double)(implicit ctx: Context): Circle =
    copy(radius = radius * by)

  class Segment(val angle: Double) {
    def length = angle * radius
  }
}

object Circle {
  implicit val ordering: Ordering[Circle] = Ordering.by(_.radius)
  val Unit, Other = Circle(1)
  private final val Limit = 100

  def apply(text: String): Option[Circle] = text match {
    case "" => None
    case _  => Some(Circle(1.0))
  }

  implicit class Rich(c: Circle) {
    def double = c.copy(radius = c.radius * 2)
  }
}

case object Empty extends Shape {
  val name = "empty"
  var scale = 0.0
  def area = 0
}

abstract class Visitor[R, -T <: Shape](depth: Int) {
  def visit(shape: T): R
  protected def finish(): Unit = ()
}

final class Registry private (val size: Int) extends Visitor[Int, Shape](1) with Logging {
  self: Named =>

  private val lock = new Object {
    def acquire(): Unit = ()
  }

  val (left, right) = (1, 2)
  val Some(found) = Option(3)

  def visit(shape: Shape): Int = shape match {
    case Circle(r, _) => r.toInt
    case Empty        => 0
  }

  val square = (x: Int) => x * x
  val add: (Int, Int) => Int = { (a, b) =>
    a + b
  }

  def retry[T](times: Int)(block: => T): T = {
    try block
    catch {
      case e: Exception if times > 0 => retry(times - 1)(block)
    } finally {
      println("done")
    }
  }
}

trait Logging {
  protected val logger = new Logger
  def log(message: => String): Unit
}

enum Color(val rgb: Int) {
  case Red extends Color(0xff0000)
  case Green, Blue

  def warm: Boolean = this == Red
}

object Color {
  def parse(text: String) = valueOf(text)
}

given intOrdering: Ordering[Int] = Ordering.fromLessThan(_ < _)

extension (s: String) {
  def shout: String = s.toUpperCase
}

object Main extends App {
  // Runs everything.
  def run(args: Array[String]): Unit = {
    for {
      a <- args
      if a.nonEmpty
    } println(a)

    class Local(n: Int) {
      def twice = n * 2
    }
    val shout = (s: String) => s.toUpperCase
    println(new Local(2).twice)
  }

  val handlers = Map(
    "a" -> ((n: Int) => n),
  )

  run(args)
}

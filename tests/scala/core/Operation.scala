package io.sash.core

/** The elements of the tests: a value, and its place in the stream, which tells ties apart. */
final case class Element(value: Int, arrival: Int)

/** A monoid over values, as a test writes it down, so that an oracle needs no slots. */
trait Operation[A] {
  def name: String
  def identity: A
  def lift(element: Element): A
  def combine(older: A, younger: A): A

  /** Whether x ⊗ y = y ⊗ x. */
  def commutes: Boolean = false

  /** The definition of a window's aggregate. It uses nothing of the library. */
  final def aggregate(elements: Iterable[Element]): A =
    elements.iterator.map(lift).foldLeft(identity)(combine)

  override def toString: String = name
}

trait HasInverse[A] extends Operation[A] {

  /** Undoes a combine: for whole = combine(oldest, rest) the result is rest. */
  def subtract(whole: A, oldest: A): A
}

trait PicksOperand[A] extends Operation[A] {
  def selectsRight(older: A, younger: A): Boolean

  final override def combine(older: A, younger: A): A =
    if (selectsRight(older, younger)) younger else older
}

object Operation {
  object Sum extends HasInverse[Long] {
    override def name: String = "Sum"
    override def identity: Long = 0L
    override def lift(element: Element): Long = element.value.toLong
    override def combine(older: Long, younger: Long): Long = older + younger
    override def commutes: Boolean = true
    override def subtract(whole: Long, oldest: Long): Long = whole - oldest
  }

  /** The free monoid: its aggregate is the window itself, so no wrong order can hide. */
  object Collect extends HasInverse[Vector[Element]] {
    override def name: String = "Collect"
    override def identity: Vector[Element] = Vector.empty
    override def lift(element: Element): Vector[Element] = Vector(element)
    override def combine(older: Vector[Element], younger: Vector[Element]): Vector[Element] =
      older ++ younger
    override def subtract(whole: Vector[Element], oldest: Vector[Element]): Vector[Element] = {
      require(whole.startsWith(oldest), s"$oldest is not the oldest part of $whole")
      whole.drop(oldest.length)
    }
  }

  object Concat extends Operation[String] {
    override def name: String = "string concatenation"
    override def identity: String = ""
    override def lift(element: Element): String =
      ('a' + Math.floorMod(element.value, 26)).toChar.toString
    override def combine(older: String, younger: String): String = older + younger
  }

  /** The example of the DABA Lite paper: the maximum and how often it occurs. */
  object MaxCount extends Operation[(Int, Int)] {
    override def name: String = "MaxCount"
    override def identity: (Int, Int) = (Int.MinValue, 0)
    override def lift(element: Element): (Int, Int) = (element.value, 1)
    override def combine(older: (Int, Int), younger: (Int, Int)): (Int, Int) =
      if (older._1 > younger._1) older
      else if (older._1 < younger._1) younger
      else (older._1, older._2 + younger._2)
  }

  /** Affine maps x -> ax + b modulo a prime, composed: a group that is not commutative. */
  object Affine extends HasInverse[(Long, Long)] {
    override def name: String = "affine maps"
    private val prime = 1000003L
    private def modulo(x: Long): Long = Math.floorMod(x, prime)
    override def identity: (Long, Long) = (1L, 0L)
    override def lift(element: Element): (Long, Long) =
      (1L + Math.floorMod(element.value, 1000), modulo(element.arrival.toLong))
    override def combine(older: (Long, Long), younger: (Long, Long)): (Long, Long) =
      (modulo(older._1 * younger._1), modulo(older._1 * younger._2 + older._2))
    override def subtract(whole: (Long, Long), oldest: (Long, Long)): (Long, Long) = {
      val inverse = BigInt(oldest._1).modInverse(BigInt(prime)).toLong
      (modulo(whole._1 * inverse), modulo(modulo(whole._2 - oldest._2) * inverse))
    }
  }

  /** An operation that picks an operand by `better(younger, older)`. None is the identity. */
  abstract class Selection(override val name: String) extends PicksOperand[Option[Element]] {
    protected def replaces(younger: Element, older: Element): Boolean
    override def identity: Option[Element] = None
    override def lift(element: Element): Option[Element] = Some(element)
    override def selectsRight(older: Option[Element], younger: Option[Element]): Boolean =
      younger.exists(y => older.forall(replaces(y, _)))
  }

  object Max extends Selection("Max, first of ties") {
    override protected def replaces(y: Element, o: Element): Boolean = y.value > o.value
  }

  object Min extends Selection("Min, first of ties") {
    override protected def replaces(y: Element, o: Element): Boolean = y.value < o.value
  }

  object ArgMax extends Selection("ArgMax, last of ties") {
    override protected def replaces(y: Element, o: Element): Boolean = y.value >= o.value
  }

  object First extends Selection("First") {
    override protected def replaces(y: Element, o: Element): Boolean = false
  }

  object Last extends Selection("Last") {
    override protected def replaces(y: Element, o: Element): Boolean = true
  }

  /** Like LAST with IGNORE NULLS: an odd value is a NULL and lifts to the identity. */
  object LastEven extends Selection("Last even value") {
    override def lift(element: Element): Option[Element] =
      Some(element).filter(_.value % 2 == 0)
    override protected def replaces(y: Element, o: Element): Boolean = true
  }

  val All: Seq[Operation[_]] =
    Seq(Sum, Collect, Concat, MaxCount, Affine, Max, Min, ArgMax, First, Last, LastEven)
}

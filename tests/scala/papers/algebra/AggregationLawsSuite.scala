package io.sash.papers.algebra

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Element, Laws}
import io.sash.core.slots.{Invertible, Selective}

/** The laws that an aggregation's type claims, tested on its functions and on its column. */
class AggregationLawsSuite extends Laws {
  private val elements: Gen[List[Element]] =
    Gen
      .choose(0, 12)
      .flatMap(Gen.listOfN(_, Gen.choose(-5, 5)))
      .map(_.zipWithIndex.map { case (value, arrival) =>
        Element(value, arrival)
      })

  /** Three neighbouring parts of a window. Any of them may be empty. */
  private val parts: Gen[(Seq[Element], Seq[Element], Seq[Element])] = for {
    all <- elements
    i <- Gen.choose(0, all.length)
    j <- Gen.choose(i, all.length)
  } yield (all.take(i), all.slice(i, j), all.drop(j))

  Case.All.foreach(c => laws(c))

  private def laws[In, Agg, Out](c: Case[In, Agg, Out]): Unit = {
    val a = c.aggregation

    law(s"$c is associative") {
      forAll(parts) { case (x, y, z) =>
        val Seq(p, q, r) = Seq(x, y, z).map(c.partial)
        alike(a.combine(p, a.combine(q, r)), a.combine(a.combine(p, q), r)) &&
        alike(a.combine(p, a.combine(q, r)), c.partial(x ++ y ++ z))
      }
    }

    law(s"$c has an identity") {
      forAll(elements) { x =>
        val p = c.partial(x)
        alike(a.combine(a.identity, p), p) && alike(a.combine(p, a.identity), p)
      }
    }

    a match {
      case i: InvertibleAggregation[In, Agg, Out] =>
        law(s"$c is invertible, exactly") {
          forAll(elements, elements) { (x, y) =>
            val (p, q) = (c.partial(x), c.partial(y))
            val rest: Any = i.subtract(i.combine(p, q), p)
            // decimals are the same number, and may end in more zeros
            rest == q || (rest.isInstanceOf[java.math.BigDecimal] && Alike(rest, q))
          }
        }
      case _ =>
    }

    a match {
      case s: SelectiveAggregation[In, Agg, Out] =>
        law(s"$c is selective") {
          forAll(elements, elements) { (x, y) =>
            val (p, q) = (c.partial(x), c.partial(y))
            val picked = if (s.selectsRight(p, q)) q else p
            alike(s.combine(p, q), picked)
          }
        }
      case _ =>
    }

    if (Commutative(a)) law(s"$c is commutative") {
      forAll(elements, elements) { (x, y) =>
        val (p, q) = (c.partial(x), c.partial(y))
        alike(a.combine(p, q), a.combine(q, p))
      }
    }
    else
      test(s"$c is not commutative") {
        val p = c.partial(Seq(Element(3, 0)))
        val others = Seq(2, 3).map(value => c.partial(Seq(Element(value, 1))))
        assert(others.exists(q => a.lower(a.combine(p, q)) != a.lower(a.combine(q, p))))
      }

    law(s"$c has a column that does as the aggregation says") {
      forAll(parts) { case (x, y, z) => columnAgrees(c, x, y, z) }
    }
  }

  private def columnAgrees[In, Agg, Out](
      c: Case[In, Agg, Out],
      x: Seq[Element],
      y: Seq[Element],
      z: Seq[Element]
  ) = {
    val column = Column.of(c.aggregation)
    column.grow(3)
    fill(c, column, 0, x, spare = 2)
    fill(c, column, 1, y, spare = 2)
    column.grow(7) // and keeps the content of slots 0 and 1
    fill(c, column, 2, z, spare = 6)
    column.combine(3, 0, 1)
    column.combine(3, 3, 2) // dst is an operand, first the left, then the right
    column.combine(4, 1, 2)
    column.combine(4, 0, 4)
    column.identity(5)
    column.copy(6, 0)
    val whole = c.answer(x ++ y ++ z)
    alike(column.lower(3), whole) && alike(column.lower(4), whole) &&
    alike(column.lower(0), c.answer(x)) && alike(column.lower(6), c.answer(x)) &&
    alike(column.lower(5), c.answer(Nil)) &&
    capabilitiesAgree(c, column, x, y) && foldAgrees(c, column, x, y, z) &&
    suffixesAgree(c, column, x, y, z)
  }

  private def foldAgrees[In, Agg, Out](
      c: Case[In, Agg, Out],
      column: Column[In, Out],
      x: Seq[Element],
      y: Seq[Element],
      z: Seq[Element]
  ) = {
    def folds(to: Int, slots: Int*)(elements: Seq[Element]) = {
      column.fold(to, (slots :+ 0).toArray, slots.length) // values after the range are ignored
      alike(column.lower(to), c.answer(elements))
    }
    folds(3, 1)(y) && folds(3, 2, 0)(z ++ x) && folds(3, 1, 0, 2, 0)(y ++ x ++ z ++ x) &&
    folds(3, 3, 2)(y ++ x ++ z ++ x ++ z)
  }

  private def suffixesAgree[In, Agg, Out](
      c: Case[In, Agg, Out],
      column: Column[In, Out],
      x: Seq[Element],
      y: Seq[Element],
      z: Seq[Element]
  ) = {
    column.suffixes(0, 2)
    alike(column.lower(0), c.answer(x ++ y ++ z)) && alike(column.lower(1), c.answer(y ++ z)) &&
    alike(column.lower(2), c.answer(z))
  }

  private def capabilitiesAgree[In, Out](
      c: Case[In, _, Out],
      column: Column[In, Out],
      x: Seq[Element],
      y: Seq[Element]
  ) = {
    val a = c.aggregation
    column.combine(5, 0, 1)
    val does = column match {
      case i: Invertible =>
        i.subtract(5, 5, 0)
        alike(column.lower(5), c.answer(y))
      case s: Selective =>
        alike(column.lower(5), if (s.selectsRight(0, 1)) c.answer(y) else c.answer(x))
      case _ => alike(column.lower(5), c.answer(x ++ y))
    }
    does &&
    column.isInstanceOf[Invertible] == a.isInstanceOf[InvertibleAggregation[_, _, _]] &&
    column.isInstanceOf[Selective] == a.isInstanceOf[SelectiveAggregation[_, _, _]]
  }

  private def fill[In, Out](
      c: Case[In, _, Out],
      column: Column[In, Out],
      slot: Int,
      elements: Seq[Element],
      spare: Int
  ): Unit = {
    column.identity(slot)
    elements.foreach { e =>
      column.lift(spare, c.input(e))
      column.combine(slot, slot, spare)
    }
  }

  private def alike(actual: Any, expected: Any) =
    Alike(actual, expected) :| s"$actual, not $expected"
}

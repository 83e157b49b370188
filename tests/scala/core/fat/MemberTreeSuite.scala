package io.sash.core.fat

import org.scalacheck.{Gen, Prop}
import org.scalacheck.Prop.{forAllNoShrink, propBoolean}

import io.sash.core.{Element, Laws, Operation, TestColumn}

/** The tree of members against a list of them, with its costs. */
class MemberTreeSuite extends Laws {
  private final class Members[A](val operation: Operation[A]) {
    val tree = new MemberTree(TestColumn(operation))
    var held = Vector.empty[(Long, Element)]
    private var arrivals = 0

    def column: TestColumn[A] = tree.column.asInstanceOf[TestColumn[A]]

    def insert(): Unit = {
      val element = Element(arrivals * 7 % 11, arrivals)
      arrivals += 1
      column.lift(tree.open(), element)
      held :+= ((tree.insert(), element))
    }

    def remove(i: Int): Unit = {
      tree.remove(held(i)._1)
      held = held.patch(i, Nil, 1)
    }

    def wrong: Option[String] = {
      val expected = operation.aggregate(held.map(_._2))
      val answer = column(tree.query())
      if (tree.size != held.size) Some(s"size ${tree.size}, not ${held.size}")
      else Option.when(answer != expected)(s"$answer, not $expected")
    }

    def cost(body: => Unit): Long = {
      val before = column.combines
      body
      column.combines - before
    }
  }

  /** Steps: to insert, to remove the oldest, the youngest or one between, and to clear. */
  private val step: Gen[(Int, Int)] = Gen.frequency(
    60 -> Gen.const((0, 0)),
    30 -> Gen.choose(0, 999).map((1, _)),
    20 -> Gen.const((1, 0)),
    10 -> Gen.const((1, 999)),
    1 -> Gen.const((2, 0))
  )

  private val steps: Gen[List[(Int, Int)]] =
    Gen.choose(0, 300).flatMap(Gen.listOfN(_, step))

  private def run(members: Members[_], step: (Int, Int)): Unit = step match {
    case (1, place) if members.held.nonEmpty =>
      members.remove(place * members.held.size / 1000)
    case (2, _) =>
      members.tree.clear()
      members.held = Vector.empty
    case _ => members.insert()
  }

  private def agrees(operation: Operation[_]): Prop = forAllNoShrink(steps) { steps =>
    val members = new Members(operation)
    val wrong = steps.zipWithIndex.iterator.flatMap { case (step, i) =>
      run(members, step)
      members.wrong.map(w => s"step $i, $step: $w")
    }
    wrong.nextOption() match {
      case None    => Prop(true)
      case Some(w) => false :| w
    }
  }

  for (operation <- Operation.All)
    law(s"members of $operation that leave in any order", runs = 100)(agrees(operation))

  /** The levels above so many leaves. */
  private def levels(leaves: Int): Int =
    Iterator.iterate(leaves)(n => (n + 3) / 4).takeWhile(_ > 1).size

  test("a member that comes takes a combine a level at most, one that leaves 3, a query none") {
    val members = new Members(Operation.Sum)
    (0 until 700).foreach(_ => members.insert()) // and the leaves have doubled to 1024
    (0 until 300).foreach { i =>
      assert(members.cost(members.insert()) <= levels(1024))
      assert(members.cost(members.remove(i * 37 % members.held.size)) <= 3 * levels(1024))
      assert(members.cost(members.wrong) == 0)
    }
  }

  test("few members take few combines") {
    val members = new Members(Operation.Sum)
    members.insert()
    for (_ <- 1 to 12) {
      assert(members.cost(members.insert()) <= 2)
      assert(members.cost(members.remove(0)) == 0)
    }
  }

  law("over a long time, 2 combines a member besides, and the leaves stay few", runs = 10) {
    forAllNoShrink(Gen.choose(20, 400), Gen.choose(0, 999)) { (n, place) =>
      val members = new Members(Operation.Sum)
      (0 until n).foreach(_ => members.insert())
      val slides = 20 * n
      val cost = members.cost((0 until slides).foreach { _ =>
        members.remove(place * n / 1000)
        members.insert()
      })
      val leaves = math.max(16, 1 << 32 - Integer.numberOfLeadingZeros(n * 4 / 3))
      val slots = members.tree.slots
      (cost <= slides * (4L * levels(leaves) + 2)) :| s"$cost combines of $n" &&
      (slots <= leaves * 4 / 3 + 2) :| s"$slots slots for $n"
    }
  }

  test("a number that is no member's") {
    val members = new Members(Operation.Collect)
    (0 until 5).foreach(_ => members.insert())
    val numbers = members.held.map(_._1)
    Seq(4, 0, 2).foreach(members.remove)
    for (gone <- Seq(numbers(0), numbers(3), numbers(4), -1L, 99L)) {
      val error = intercept[NoSuchElementException](members.tree.remove(gone))
      assert(error.getMessage.contains(gone.toString))
      assert(members.wrong.isEmpty)
    }
  }
}

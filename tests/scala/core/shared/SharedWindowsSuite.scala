package io.sash.core.shared

import org.scalacheck.{Gen, Prop}
import org.scalacheck.Prop.{forAllNoShrink, propBoolean}

import io.sash.core.{Element, HasInverse, Laws, Operation, PicksOperand, TestColumn}
import io.sash.core.inorder.{Recalculate, SlickDequeInvRanges, SlickDequeNonInv}
import io.sash.core.slots.{Invertible, Partials, Selective}

/** Windows over one store of elements against a list of the elements in each. */
class SharedWindowsSuite extends Laws {
  private type Make = (Partials, Int) => SharedWindows

  private def makes(operation: Operation[_]): Seq[(String, Make)] = {
    val inverse: Make = {
      case (c: Invertible, count) => new SlickDequeInvRanges(c, count)
      case (other, _)             => throw new IllegalArgumentException(s"$other has no inverse")
    }
    val picking: Make = {
      case (c: Selective, count) => new SuffixWindows(new SlickDequeNonInv(c), count)
      case (other, _)            => throw new IllegalArgumentException(s"$other does not pick")
    }
    val any: Make = (column, count) => new SuffixWindows(new Recalculate(column), count)
    Seq("Recalculate" -> any) ++ (operation match {
      case _: HasInverse[_]   => Seq("SlickDeque (Inv)" -> inverse)
      case _: PicksOperand[_] => Seq("SlickDeque (Non-Inv)" -> picking)
      case _                  => Nil
    })
  }

  /** Insert, or evict from one window. */
  private val steps: Gen[List[Int]] =
    Gen.choose(0, 200).flatMap(Gen.listOfN(_, Gen.frequency(3 -> 0, 4 -> Gen.choose(1, 4))))

  private def agrees[A](operation: Operation[A], make: Make): Prop =
    forAllNoShrink(Gen.choose(1, 4), steps) { (count, steps) =>
      val windows = make(TestColumn(operation), count)
      def column = windows.column.asInstanceOf[TestColumn[A]]
      val held = Array.fill(count)(Vector.empty[Element])
      val wrong = steps.zipWithIndex.iterator.flatMap { case (step, i) =>
        val window = step - 1
        if (step == 0) {
          val element = Element(i * 5 % 7, i)
          column.lift(windows.open(), element)
          windows.insert()
          held.indices.foreach(w => held(w) :+= element)
        } else if (window < count && held(window).nonEmpty) {
          windows.evict(window)
          held(window) = held(window).tail
        }
        held.indices.find { w =>
          windows.size(w) != held(w).size ||
          column(windows.query(w)) != operation.aggregate(held(w))
        }
      }
      wrong.nextOption() match {
        case None    => Prop(true)
        case Some(w) => false :| s"window $w"
      }
    }

  for {
    operation <- Seq(Operation.Sum, Operation.Collect, Operation.Max, Operation.LastEven)
    (name, make) <- makes(operation)
  } law(s"$name of $operation", runs = 100)(agrees(operation, make))

  test("evicting from an empty window is refused") {
    makes(Operation.Sum).foreach { case (_, make) =>
      val windows = make(TestColumn(Operation.Sum), 2)
      assertThrows[NoSuchElementException](windows.evict(1))
    }
  }
}

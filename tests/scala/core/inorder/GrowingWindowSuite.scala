package io.sash.core.inorder

import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Element, Laws, Operation, TestColumn}

/** The aggregate of a window that only grows. */
class GrowingWindowSuite extends Laws {
  law("a query is the aggregate of all elements in their order, for one combine an element") {
    forAll { (values: List[Int], opensAhead: Boolean) =>
      val s = new Slider(WindowAlgorithm.Growing, Operation.Collect)
      val elements = values.zipWithIndex.map { case (v, i) => Element(v, i) }
      val cost = s.cost {
        if (opensAhead) elements.foreach(s.open)
        elements.zipWithIndex.foreach { case (e, i) =>
          if (opensAhead) s.window.insert() else s.insert(e)
          val expected = Operation.Collect.aggregate(elements.take(i + 1))
          require(s.query() == expected, s"${s.query()} instead of $expected")
        }
      }
      (cost == math.max(0, values.length - 1)) :| s"$cost combines for ${values.length} elements"
    }
  }

  test("an empty window has the identity, and so has one that was cleared") {
    val s = new Slider(WindowAlgorithm.Growing, Operation.Sum)
    assert(s.query() == 0L)
    s.insert(Element(3, 0))
    s.window.clear()
    assert(s.query() == 0L)
    s.insert(Element(5, 1))
    assert(s.query() == 5L)
  }

  test("it holds no element: its slots do not grow") {
    val s = new Slider(WindowAlgorithm.Growing, Operation.Sum)
    s.insert(Element(1, 0))
    val before = s.column.capacity
    (1 to 1000).foreach(i => s.insert(Element(1, i)))
    assert(s.column.capacity == before)
    assert(s.window.size == 1001)
    assert(s.query() == 1001L)
  }

  test("from the identity, the first element is combined, too") {
    val window = new GrowingWindow(new TestColumn(Operation.Collect), fromIdentity = true)
    def column = window.column.asInstanceOf[TestColumn[Vector[Element]]]
    val elements = (0 to 3).map(i => Element(i, i))
    for (round <- 1 to 2) {
      window.clear()
      for ((element, i) <- elements.zipWithIndex) {
        column.lift(window.open(), element)
        window.insert()
        assert(column(window.query()) == Operation.Collect.aggregate(elements.take(i + 1)))
      }
      assert(column.combines == round * elements.length)
    }
  }

  test("no element can leave") {
    val s = new Slider(WindowAlgorithm.Growing, Operation.Sum)
    s.insert(Element(1, 0))
    assert(
      intercept[UnsupportedOperationException](s.window.evict()).getMessage.contains("grows")
    )
  }
}

package io.sash.papers.algebra

import org.scalatest.funsuite.AnyFunSuite

/** Columns of primitives have room for as many partials as an array has cells. */
class CellsSuite extends AnyFunSuite {
  test("a column that no array can hold says so") {
    val error = intercept[IllegalStateException](SampleStdDev.newColumn().grow(1 << 30))
    assert(error.getMessage.contains("3 numbers a partial aggregate has no room for 1073741824"))
  }

  test("the largest column that an array can hold") {
    assert(Cells.length(Int.MaxValue - 8, 1) == Int.MaxValue - 8)
    assertThrows[IllegalStateException](Cells.length(Int.MaxValue / 2, 3))
  }
}

package io.sash.core.inorder

import io.sash.core.fat.Unstored

/** Bad use gives a clear error and leaves the window as it was. */
class BadUseSuite extends InOrderUse(WindowAlgorithm.All) {
  test("more open slots than a window can number") {
    InOrderUse.full(new TwoStacksLite(new Unstored), 1 << 30)
  }

  test("an algorithm that needs more of the operation does not compile without it") {
    assertTypeError(
      "new SlickDequeInv(io.sash.core.TestColumn.selective(io.sash.core.Operation.Max))"
    )
    assertTypeError(
      "new SlickDequeNonInv(io.sash.core.TestColumn.invertible(io.sash.core.Operation.Sum))"
    )
    assertCompiles(
      "new SlickDequeInv(io.sash.core.TestColumn.invertible(io.sash.core.Operation.Sum))"
    )
    assertCompiles(
      "new SlickDequeNonInv(io.sash.core.TestColumn.selective(io.sash.core.Operation.Max))"
    )
  }
}

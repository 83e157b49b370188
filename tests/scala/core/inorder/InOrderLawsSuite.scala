package io.sash.core.inorder

import io.sash.core.Operation

/** Every algorithm of the plugin × every operation that it accepts × random schedules. */
class InOrderLawsSuite extends InOrderMatrix(WindowAlgorithm.All) {
  test("the matrix is as wide as the algorithms' needs allow") {
    val cells = WindowAlgorithm.All.map(a => Operation.All.count(a.accepts))
    assert(cells == Seq.fill(3)(11) ++ Seq(3, 3, 3, 6))
  }
}

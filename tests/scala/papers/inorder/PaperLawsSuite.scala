package io.sash.papers.inorder

import io.sash.core.Operation
import io.sash.core.inorder.InOrderMatrix

/** Every algorithm of the library × every operation × random schedules. */
class PaperLawsSuite extends InOrderMatrix(PaperAlgorithm.All) {
  test("the matrix is as wide as the algorithms' needs allow") {
    val cells = PaperAlgorithm.All.map(a => Operation.All.count(a.accepts))
    assert(cells == Seq.fill(9)(11))
  }
}

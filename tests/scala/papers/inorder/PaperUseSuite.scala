package io.sash.papers.inorder

import io.sash.core.fat.Unstored
import io.sash.core.inorder.InOrderUse
import io.sash.papers.slots.Chunked

/** Bad use of the library's windows gives a clear error, and changes nothing. */
class PaperUseSuite extends InOrderUse(PaperAlgorithm.All) {
  test("more open slots than a window in chunks can number, none of which is open twice") {
    val chunk = 1 << 20
    InOrderUse.full(
      new DabaLite(new Unstored with Chunked {
        override def chunkSize: Int = chunk
        override def openChunk(slot: Int): Unit = ()
        override def closeChunk(slot: Int): Unit = ()
        override def closeChunks(): Unit = ()
      }),
      (1 << 30) - chunk
    )
  }
}

package io.sash.spark.slots

import io.sash.core.slots.PageStore
import io.sash.spark.memory.{SpillFile, WindowMemory}

/** Stores pages in a spill file, one block per page. */
private[spark] final class SpilledPages(memory: WindowMemory) extends PageStore {
  private[this] val file = new SpillFile(memory)
  private[this] var blocks = Array.empty[SpillFile.Block]

  override def store(page: Int, bytes: Array[Byte], length: Int): Unit = {
    if (page >= blocks.length) blocks = java.util.Arrays.copyOf(blocks, 2 * page + 1)
    blocks(page) = file.store(blocks(page), bytes, length)
  }

  override def fetch(page: Int): Array[Byte] = file.fetch(blocks(page))
}

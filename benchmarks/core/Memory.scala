package io.sash.bench

import org.openjdk.jol.info.GraphLayout

/**
 * Prints the bytes that a window of n elements takes, its column included, after it has slid:
 * `Memory ALGORITHM OPERATION N`.
 */
object Memory {
  def main(arguments: Array[String]): Unit = {
    val state = new BulkState
    state.algorithm = arguments(0)
    state.operation = arguments(1)
    state.n = arguments(2).toInt
    state.fill()
    var i = 0
    while (i < state.n) {
      state.window.bulkEvict(1)
      state.insert()
      state.window.query()
      i += 1
    }
    println(s"bytes: ${GraphLayout.parseInstance(state.window).totalSize}")
  }
}

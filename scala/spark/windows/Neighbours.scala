package io.sash.spark.windows

import org.apache.spark.sql.catalyst.InternalRow

/**
 * The partial aggregates of many neighbouring rows, which enter a window as one element.
 *
 * @param cells the partial of each store of elements, as the store's codec writes it
 * @param last the last of the rows, for the keys of frames
 * @param rows the number of the rows
 */
private[spark] final case class Total(
    cells: IndexedSeq[Array[Byte]],
    last: InternalRow,
    rows: Long
)

/**
 * The rows of other tasks that are in the windows of a task's own rows, where one window is
 * divided among tasks. They get no answers here. Older rows of another key than the first own row
 * change nothing. The first younger row of another key than the last own row ends `younger`.
 *
 * The elements of a window come in the order `older`, the task's own rows, `younger`. No window
 * begins or ends within a total.
 */
private[spark] final class Neighbours(
    val older: Iterator[Either[InternalRow, Total]],
    val younger: Iterator[Either[InternalRow, Total]]
)

private[spark] object Neighbours {
  val None: Neighbours = new Neighbours(Iterator.empty, Iterator.empty)
}

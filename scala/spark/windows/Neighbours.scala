package io.sash.spark.windows

import org.apache.spark.sql.catalyst.InternalRow

/**
 * The partial aggregates of many consecutive rows, which enter a window as one element.
 *
 * @param cells for each store of elements, the partial, as the store's codec writes it
 * @param last the last of these rows; frames take their keys from it
 * @param rows the number of these rows
 */
private[spark] final case class Total(
    cells: IndexedSeq[Array[Byte]],
    last: InternalRow,
    rows: Long
)

/**
 * The rows of other tasks that are in the windows of a task's own rows, if a window is divided
 * among tasks. They get no answers here. Older rows have no effect if their key differs from the
 * first own row's. The first younger row with another key than the last own row ends `younger`.
 *
 * Elements come in this order: `older`, the task's own rows, `younger`. A window never begins or
 * ends within a total.
 */
private[spark] final class Neighbours(
    val older: Iterator[Either[InternalRow, Total]],
    val younger: Iterator[Either[InternalRow, Total]]
)

private[spark] object Neighbours {
  val None: Neighbours = new Neighbours(Iterator.empty, Iterator.empty)
}

package io.sash.core.slots

/**
 * A column that lives in a store but for a few resident pages, so that a window over it may be
 * larger than memory:
 * {{{
 *   val column = new PagedPartials(resident, codec, store)
 *   val window = new TwoStacksLite(column)
 *   resident.lift(column.written(window.open()), value)
 *   window.insert()
 *   resident.lower(column.read(window.query()))
 * }}}
 * A slot that was never written must be one that the codec can write. An exception of the store
 * or of the codec passes through; the column is then undefined.
 *
 * Cost: a walk over n slots reads and writes a page each 256 slots.
 *
 * @param resident a new column, used by nobody else, which must not hand over to another
 */
final class PagedPartials(resident: Partials, codec: SlotCodec, store: PageStore)
    extends Partials {
  private[this] val pages = new Pages(resident, codec, store)

  resident.grow(pages.resident)

  /** The slot of `resident` that stands for `slot` until the next call. */
  def read(slot: Int): Int = pages.read(slot)

  /** The slot of `resident` that stands for `slot` until the next call, and is to be written. */
  def written(slot: Int): Int = pages.written(slot)

  override def total: Boolean = resident.total

  override def identity(dst: Int): Unit = resident.identity(pages.written(dst))

  override def combine(dst: Int, left: Int, right: Int): Unit = {
    val l = pages.read(left)
    val r = pages.read(right)
    resident.combine(pages.written(dst), l, r)
  }

  override def copy(dst: Int, src: Int): Unit = {
    val from = pages.read(src)
    resident.copy(pages.written(dst), from)
  }

  override def grow(slots: Int): PagedPartials = {
    pages.grow(slots)
    this
  }
}

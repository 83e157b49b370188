package io.sash.papers.slots

import io.sash.core.slots.{PageStore, Pages, Partials, SlotCodec}

/**
 * A column that lives in a store, except for a few resident pages. So a window over it may be
 * larger than memory:
 * {{{
 *   val column = new PagedPartials(resident, codec, store)
 *   val window = new TwoStacksLite(column)
 *   resident.lift(column.written(window.open()), value)
 *   window.insert()
 *   resident.lower(column.read(window.query()))
 * }}}
 * The codec must be able to write a slot that was never filled. An exception of the store or of
 * the codec passes through; the column is then undefined.
 *
 * Cost: a walk over n slots reads and writes one page for every 256 slots.
 *
 * @param resident a new column that nobody else uses and whose `grow` returns the column itself
 */
final class PagedPartials(resident: Partials, codec: SlotCodec, store: PageStore)
    extends Partials {
  private[this] val pages = new Pages(resident, codec, store)

  resident.grow(pages.resident)

  /** The slot of `resident` that stands for `slot`, for reading; valid until the next call. */
  def read(slot: Int): Int = pages.read(slot)

  /** The slot of `resident` that stands for `slot`, for writing; valid until the next call. */
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

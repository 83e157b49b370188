package io.sash.papers.algebra

import java.nio.ByteBuffer
import java.util.Arrays

import io.sash.core.algebra.{Adapted, Aggregation}
import io.sash.core.elements.InOrderWindow
import io.sash.core.slots.{Bytes, Partials, SlotCodec, Slots}
import io.sash.papers.elements.OutOfOrderWindow
import io.sash.papers.slots.ChunkedPartials

/**
 * A column of an aggregation's partials, the bridge from values to slots. If In and Out are both
 * Int, Long or Double, neither `lift` nor `lower` boxes. It also turns its partials into bytes
 * and back, for a store or a [[Snapshot]].
 *
 * A column of this kind never moves: `grow` returns the column itself.
 */
trait Column[@specialized(Int, Long, Double) In, @specialized(Int, Long, Double) Out]
    extends Partials
    with SlotCodec {

  /** `slot <- lift(in)` */
  def lift(slot: Int, in: In): Unit

  /** lower(slot) */
  def lower(slot: Int): Out

  override def grow(slots: Int): this.type

  /** The window of values over `algorithm`, which must be new and made over this column. */
  def over[A <: InOrderWindow](algorithm: A): Window[In, Out, A] = {
    requireOver(algorithm.column)
    new Window[In, Out, A](algorithm, this)
  }

  /** The window of values over `tree`, which must be new and made over this column. */
  def over(tree: OutOfOrderWindow): TimedWindow[In, Out] = {
    requireOver(tree.column)
    new TimedWindow[In, Out](tree, this)
  }

  /** A column of chunks that `make` makes. It is specialized like this column. */
  private[algebra] def inChunks(
      make: () => Column[In, Out],
      logSize: Int
  ): ChunkedColumn[In, Out] =
    new ChunkedColumn[In, Out](make, logSize)

  private def requireOver(column: Partials): Unit = {
    if (column ne this) {
      throw new IllegalArgumentException("over() of a window that is over another column")
    }
    claimed(Partials.Values)
  }
}

object Column {

  /**
   * A new column of an aggregation's partials: the aggregation's own, or an array of references.
   */
  def of[In, Agg, Out](aggregation: Aggregation[In, Agg, Out]): Column[In, Out] =
    aggregation match {
      case own: MakesColumn[In @unchecked, Out @unchecked] => own.newColumn()
      case adapted: Adapted[In, in, Agg, out, Out] =>
        new AdaptedColumn(of(adapted.aggregation), adapted.part, adapted.finish)
      case _ => new ObjectColumn(aggregation)
    }

  /** A new column in chunks, for DABA and DABA Lite. It grows without copying. */
  def inChunks[In, Agg, Out](aggregation: Aggregation[In, Agg, Out]): ChunkedColumn[In, Out] =
    inChunks(aggregation, ChunkedPartials.LogSize)

  private[algebra] def inChunks[In, Agg, Out](
      aggregation: Aggregation[In, Agg, Out],
      logSize: Int
  ): ChunkedColumn[In, Out] = of(aggregation).inChunks(() => of(aggregation), logSize)
}

/** A column for any aggregation: an array of references. */
private[algebra] class ObjectColumn[In, Agg, Out](aggregation: Aggregation[In, Agg, Out])
    extends Column[In, Out] {
  private[this] var cells = new Array[AnyRef](0)

  protected[this] final def get(slot: Int): Agg = cells(slot).asInstanceOf[Agg]

  protected[this] final def put(slot: Int, agg: Agg): Unit =
    cells(slot) = agg.asInstanceOf[AnyRef]

  override def identity(dst: Int): Unit = put(dst, aggregation.identity)

  override def lift(slot: Int, in: In): Unit = put(slot, aggregation.lift(in))

  override def combine(dst: Int, left: Int, right: Int): Unit =
    put(dst, aggregation.combine(get(left), get(right)))

  override def lower(slot: Int): Out = aggregation.lower(get(slot))

  override def copy(dst: Int, src: Int): Unit = cells(dst) = cells(src)

  private def all: Array[AnyRef] = cells

  override def copyFrom(other: Partials, dst: Int, src: Int): Unit =
    cells(dst) = other.asInstanceOf[ObjectColumn[_, _, _]].all(src)

  override def move(dst: Int, src: Int, count: Int): Unit =
    System.arraycopy(cells, src, cells, dst, count)

  override def write(slots: Slots, slot: Int, out: Bytes): Unit =
    ObjectCodec.write(cells(slot), out)

  override def read(slots: Slots, slot: Int, in: ByteBuffer): Unit =
    cells(slot) = ObjectCodec.read(in)

  override def shrink(slots: Int): Unit =
    if (slots < cells.length) cells = Arrays.copyOf(cells, slots)

  override def grow(slots: Int): this.type = {
    if (slots > cells.length) cells = Arrays.copyOf(cells, slots)
    this
  }
}

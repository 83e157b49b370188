package io.sash.papers.algebra

import java.io.{
  ByteArrayInputStream,
  ByteArrayOutputStream,
  ObjectInputStream,
  ObjectOutputStream
}
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import scala.annotation.implicitNotFound

import io.sash.core.algebra.Aggregation
import io.sash.core.slots.{Bytes, SlotCodec, Slots}

/**
 * Turns partial aggregates into bytes and back, for a window that outlives its process. There are
 * codecs for Int, Long, Double, String, [[Moments]], and pairs and options of these. For all
 * other partials see [[PartialCodec.serialized]].
 */
@implicitNotFound(
  "No codec for partials of ${Agg}: write one, or pass PartialCodec.serialized[${Agg}]"
)
trait PartialCodec[Agg] {

  /** Writes a partial to the end of `out`. */
  def write(agg: Agg, out: Bytes): Unit

  /** The partial that `write` has written. It leaves `in` behind the last byte of the partial. */
  def read(in: ByteBuffer): Agg
}

object PartialCodec {
  private def of[Agg](put: (Agg, Bytes) => Unit)(get: ByteBuffer => Agg): PartialCodec[Agg] =
    new PartialCodec[Agg] {
      override def write(agg: Agg, out: Bytes): Unit = put(agg, out)
      override def read(in: ByteBuffer): Agg = get(in)
    }

  implicit val ofInt: PartialCodec[Int] = of[Int]((n, out) => out.putInt(n))(_.getInt())

  implicit val ofLong: PartialCodec[Long] = of[Long]((n, out) => out.putLong(n))(_.getLong())

  implicit val ofDouble: PartialCodec[Double] =
    of[Double]((x, out) => out.putLong(java.lang.Double.doubleToRawLongBits(x)))(_.getDouble())

  implicit val ofString: PartialCodec[String] =
    of[String]((s, out) => out.putBytes(s.getBytes(UTF_8)))(in =>
      new String(Bytes.bytes(in), UTF_8)
    )

  implicit val ofMoments: PartialCodec[Moments] = of[Moments] { (m, out) =>
    ofLong.write(m.count, out)
    ofDouble.write(m.mean, out)
    ofDouble.write(m.squares, out)
  }(in => Moments(ofLong.read(in), ofDouble.read(in), ofDouble.read(in)))

  implicit def ofPair[A, B](implicit
      first: PartialCodec[A],
      second: PartialCodec[B]
  ): PartialCodec[(A, B)] = of[(A, B)] { (pair, out) =>
    first.write(pair._1, out)
    second.write(pair._2, out)
  }(in => (first.read(in), second.read(in)))

  implicit def ofOption[A](implicit codec: PartialCodec[A]): PartialCodec[Option[A]] =
    of[Option[A]] { (option, out) =>
      out.putByte(option.size)
      option.foreach(codec.write(_, out))
    }(in => Option.when(in.get() == 1)(codec.read(in)))

  /**
   * Java's serialization, for partials of any serializable class. Each partial takes some hundred
   * bytes and microseconds.
   */
  def serialized[Agg]: PartialCodec[Agg] = of[Agg] { (agg, out) =>
    val bytes = new ByteArrayOutputStream
    val objects = new ObjectOutputStream(bytes)
    objects.writeObject(agg)
    objects.close()
    out.putBytes(bytes.toByteArray)
  } { in =>
    new ObjectInputStream(new ByteArrayInputStream(Bytes.bytes(in)))
      .readObject()
      .asInstanceOf[Agg]
  }
}

/** A column of references to partials that are also read from bytes and written as bytes. */
private[papers] final class CodedColumn[In, Agg, Out](
    aggregation: Aggregation[In, Agg, Out],
    codec: PartialCodec[Agg]
) extends ObjectColumn(aggregation)
    with SlotCodec {
  override def write(slots: Slots, slot: Int, out: Bytes): Unit = codec.write(get(slot), out)

  override def read(slots: Slots, slot: Int, in: ByteBuffer): Unit = put(slot, codec.read(in))
}

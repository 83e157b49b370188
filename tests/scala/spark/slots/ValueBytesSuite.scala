package io.sash.spark.slots

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Coalesce, Literal}
import org.apache.spark.sql.types.{BinaryType, IntegerType, StringType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import io.sash.spark.memory.WindowMemory

/** Slots know what their values take, whatever happened to them. */
class ValueBytesSuite extends AnyFunSuite {
  private final class Account extends WindowMemory {
    var used = 0L
    override def tryAcquire(bytes: Long): Boolean = {
      used += bytes
      true
    }
    override def release(bytes: Long): Unit = used -= bytes
    override def spilled(bytes: Long): Unit = ()
  }

  private val in = Seq(
    AttributeReference("s", StringType)(),
    AttributeReference("i", IntegerType)(),
    AttributeReference("b", BinaryType)()
  )
  private val Seq(left, right) =
    Seq.fill(2)(in.map(a => AttributeReference("cell", a.dataType)()))
  private val program = SlotProgram(
    in,
    left,
    right,
    Seq(
      SlotProgram.Part(
        first = 0,
        identity = in.map(a => Literal(null, a.dataType)),
        lift = in,
        combine = left.zip(right).map { case (l, r) => Coalesce(Seq(r, l)) }
      )
    )
  )

  private def row(text: Int, bytes: Int): InternalRow = InternalRow(
    if (text < 0) null else UTF8String.fromString("x" * text),
    7,
    if (bytes < 0) null else new Array[Byte](bytes)
  )

  for (
    (kind, make) <- Seq[(String, () => SlotColumns)](
      "generated" -> (() => SlotCodegen.compile(program)),
      "interpreted" -> (() => new InterpretedSlots(program))
    )
  ) test(s"$kind: the bytes of all values, after any operations") {
    val random = new Random(5L)
    val account = new Account
    val columns = make().accountedBy(account, program)
    columns.grow(8)
    (0 until 8).foreach(columns.identity)
    val fixed = account.used
    val sizes = new Array[Long](8)
    val cells = Array.fill(8, 2)(-1)
    def check(): Unit = {
      (0 until 8).foreach(s => sizes(s) = cells(s).map(math.max(0, _)).sum.toLong)
      assert(columns.valueBytes == sizes.sum, "seed 5")
    }
    def merge(older: Array[Int], younger: Array[Int]): Array[Int] =
      older.zip(younger).map { case (o, y) => if (y >= 0) y else o }
    (0 until 500).foreach { _ =>
      val Seq(a, b, c) = Seq.fill(3)(random.nextInt(8))
      random.nextInt(6) match {
        case 0 | 1 =>
          cells(a) = Array.fill(2)(random.nextInt(2000) - 500)
          columns.lift(a, row(cells(a)(0), cells(a)(1)))
        case 2 =>
          columns.copy(a, b)
          cells(a) = cells(b).clone()
        case 3 =>
          columns.combine(a, b, c)
          cells(a) = merge(cells(b), cells(c))
        case 4 =>
          columns.identity(a)
          cells(a) = Array(-1, -1)
        case _ =>
          columns.suffixes(2, 5)
          (4 to 2 by -1).foreach(s => cells(s) = merge(cells(s), cells(s + 1)))
      }
      check()
      assert(columns.fits() && account.used >= fixed + columns.valueBytes)
    }
    columns.shrink(3)
    assert(columns.valueBytes == sizes.take(3).sum && columns.capacity == 3)
    columns.page()
    assert(account.used == 0)
  }

  test("slots of fixed width have nothing to measure") {
    val fixed = program.copy(
      columns = left.slice(1, 2),
      right = right.slice(1, 2),
      parts = Seq(SlotProgram.Part(first = 0, identity = Nil, lift = in.slice(1, 2)))
    )
    assert(fixed.varying.isEmpty && !SlotColumns(fixed).varies)
    assert(!SlotColumns(fixed).accountedBy(WindowMemory.Unlimited, fixed).varies)
    assert(SlotColumns(program).accountedBy(WindowMemory.Unlimited, program).varies)
  }
}

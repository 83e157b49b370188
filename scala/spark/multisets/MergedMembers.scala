package io.sash.spark.multisets

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.types.DataType

import io.sash.core.fat.MemberTree
import io.sash.spark.monoids.{AggregateMonoid, Algorithm, Place}
import io.sash.spark.slots.{RunningAnswer, RunningState, SlotColumns, SlotProgram}

/**
 * A monoid over members that come and go in any order, as in a multiset. If the monoid has an
 * inverse, one partial holds all members. Else a tree holds them, in the order in which they
 * came.
 *
 * Cost: O(1) per member with the inverse, O(log n) combines without it.
 *
 * @param inputs the expressions whose values make a member
 * @param row the attributes by which `monoid` refers to these values
 */
private[spark] final case class MergedMembers(
    inputs: Seq[Expression],
    row: Seq[Attribute],
    monoid: AggregateMonoid
) extends RunningAnswer {
  override def dataType: DataType = monoid.lower.dataType

  override def isInvertible: Boolean = true

  private[this] val algorithm = Algorithm.choose(monoid, Algorithm.Auto, Place.Members)

  override def title: String = "partial aggregates"

  private[multisets] def isInTree: Boolean = algorithm == Algorithm.MemberTreeAlgorithm

  /** Compiled once, since Spark's operator creates a state in each partition. */
  @transient private lazy val program = SlotProgram(row, monoid.left, monoid.right, Seq(part))
  @transient private lazy val compiled = SlotColumns(program)

  override def create(): RunningState = {
    val columns = compiled.fresh()
    val result = new SpecificInternalRow(Seq(dataType))
    if (isInTree) new TreeOfMembers(columns, result, dataType, program.bytesPerSlot)
    else new InvertedMembers(columns, result, dataType)
  }

  private def part: SlotProgram.Part = SlotProgram.Part(
    first = 0,
    identity = monoid.identity,
    lift = monoid.lift,
    combine = monoid.combine,
    subtract = monoid.subtract,
    results = Seq((0, monoid.lower))
  )
}

private[spark] object MergedMembers {

  /** None if `f` cannot be merged. */
  def of(f: DeclarativeAggregate): Option[MergedMembers] = {
    val inputs = Replay.arguments(f)
    val row = inputs.map(e => AttributeReference("input", e.dataType, e.nullable)())
    val cells = row.iterator
    val over = f.withNewChildren(f.children.map(c => if (c.foldable) c else cells.next()))
    AggregateMonoid
      .of(over.asInstanceOf[DeclarativeAggregate].toAggregateExpression())
      .toOption
      .map(MergedMembers(inputs, row, _))
  }
}

private sealed abstract class MembersState(result: InternalRow, dataType: DataType)
    extends RunningState {
  protected def lower(out: InternalRow): Unit

  override final def result(): Any = {
    lower(result)
    result.get(0, dataType)
  }
}

private final class InvertedMembers(columns: SlotColumns, result: InternalRow, dataType: DataType)
    extends MembersState(result, dataType) {
  private[this] final val total = 0
  private[this] final val member = 1

  columns.grow(2)
  clear()

  override def bytes: Long = 0L // it has two slots only

  override def clear(): Unit = columns.identity(total)

  override def add(inputs: InternalRow): Unit = {
    columns.lift(member, inputs)
    columns.combine(total, total, member)
  }

  override def remove(inputs: InternalRow): Unit = {
    columns.lift(member, inputs)
    columns.subtract(total, total, member)
  }

  override protected def lower(out: InternalRow): Unit = columns.lower(total, out)
}

/** Finds a member by the identity of its row: `remove` needs the same object that was added. */
private final class TreeOfMembers(
    columns: SlotColumns,
    result: InternalRow,
    dataType: DataType,
    bytesPerSlot: Long
) extends MembersState(result, dataType) {
  private[this] val tree = new MemberTree(columns)
  private[this] val numbers = new java.util.IdentityHashMap[InternalRow, java.lang.Long]

  override def clear(): Unit = {
    tree.clear()
    numbers.clear()
  }

  override def bytes: Long = numbers.size * 64L + tree.slots * bytesPerSlot

  override def add(inputs: InternalRow): Unit = {
    val slot = tree.open()
    tree.column.asInstanceOf[SlotColumns].lift(slot, inputs)
    numbers.put(inputs, tree.insert())
  }

  override def remove(inputs: InternalRow): Unit = tree.remove(numbers.remove(inputs))

  override protected def lower(out: InternalRow): Unit = {
    val answer = tree.query()
    tree.column.asInstanceOf[SlotColumns].lower(answer, out)
  }
}

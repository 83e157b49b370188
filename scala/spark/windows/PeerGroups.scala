package io.sash.spark.windows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.types.{DataType, LongType}

/**
 * `dense_rank` as a monoid: the number of groups of rows with equal keys, over rows in the order
 * of the keys. The partials of two runs of rows add up. The sum is one less if the last group of
 * the first run continues in the second.
 */
private[spark] final case class PeerGroups(keys: Seq[Expression]) extends DeclarativeAggregate {
  override def children: Seq[Expression] = keys
  override def nullable: Boolean = false
  override def dataType: DataType = LongType
  override def prettyName: String = "dense_rank"
  override def sql: String = "dense_rank()"

  private lazy val groups = AttributeReference("groups", LongType, nullable = false)()
  private lazy val first = keys.map(k => AttributeReference("first", k.dataType)())
  private lazy val last = keys.map(k => AttributeReference("last", k.dataType)())

  override lazy val aggBufferAttributes: Seq[AttributeReference] = groups +: (first ++ last)

  override lazy val inputAggBufferAttributes: Seq[AttributeReference] =
    aggBufferAttributes.map(_.newInstance())

  private val none = Literal(0L)

  override lazy val initialValues: Seq[Expression] =
    none +: (keys ++ keys).map(k => Literal.create(null, k.dataType))

  override lazy val updateExpressions: Seq[Expression] = {
    val isNew = Or(isEmpty(groups), Not(areSame(last, keys)))
    val from = first.zip(keys).map { case (f, k) => If(isEmpty(groups), k, f) }
    If(isNew, new Add(groups, Literal(1L)), groups) +: (from ++ keys)
  }

  override lazy val mergeExpressions: Seq[Expression] = {
    val (more, (from, to)) = (right(groups), (first.map(right), last.map(right)))
    val goesOn = And(Not(isEmpty(groups)), And(Not(isEmpty(more)), areSame(last, from)))
    val sum = new Add(groups, more)
    val firsts = first.zip(from).map { case (l, r) => If(isEmpty(groups), r, l) }
    val lasts = last.zip(to).map { case (l, r) => If(isEmpty(more), l, r) }
    If(goesOn, new Subtract(sum, Literal(1L)), sum) +: (firsts ++ lasts)
  }

  override lazy val evaluateExpression: Expression = groups

  private def right(a: AttributeReference): Expression =
    inputAggBufferAttributes(aggBufferAttributes.indexOf(a))

  private def isEmpty(count: Expression): Expression = EqualTo(count, none)

  private def areSame(left: Seq[Expression], right: Seq[Expression]): Expression =
    left.zip(right).map { case (l, r) => EqualNullSafe(l, r): Expression }.reduce(And(_, _))

  override protected def withNewChildrenInternal(children: IndexedSeq[Expression]): PeerGroups =
    copy(keys = children)
}

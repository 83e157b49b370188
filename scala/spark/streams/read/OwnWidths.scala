package io.sash.spark.streams.read

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

import io.sash.spark.streams.ask.ReadState
import io.sash.spark.streams.program.StreamProgram

/**
 * The columns from which windows have each row's own width. A moment has no row that would say
 * them, so the user gives the columns that they are made of.
 *
 * @param values each column with its value, an expression over the key and the time
 */
private[read] final case class OwnWidths(values: Seq[(ExprId, Expression)]) {

  /** The values by the ordinals of their columns in a row, over that row. */
  def in(input: Seq[Attribute]): Seq[(Int, Expression)] = values.map { case (id, value) =>
    input.indexWhere(_.exprId == id) -> BindReferences.bindReference(value, input)
  }
}

private[read] object OwnWidths {

  /** @param values a constant STRUCT with a field for each column that is not known */
  def of(program: StreamProgram, known: KnownColumns, values: Option[Expression]): OwnWidths = {
    val columns = columnsOf(program, known)
    val isKnown = AttributeSet(known.columns)
    val asked = AttributeSet(columns.map(_._2)).toSeq.filterNot(isKnown.contains)
    val said = AttributeMap(values match {
      case None if asked.isEmpty    => Nil
      case None                     => refuse(missing(program, asked))
      case Some(_) if asked.isEmpty => throw none
      case Some(struct)             => asked.map(c => c -> valueOf(c, struct, asked))
    })
    OwnWidths(columns.map { case (column, e) =>
      column.exprId -> e.transform { case a: Attribute => said.getOrElse(a, a) }
    })
  }

  /** The error for widths of a query that reads none. */
  def none: Throwable =
    ReadState.refuse("widths", "no window of the query has each row's own width; leave it out")

  /** The columns of rows that widths read, with their definitions. */
  private def columnsOf(
      program: StreamProgram,
      known: KnownColumns
  ): Seq[(Attribute, Expression)] = {
    val read = AttributeSet(program.ownMarks.map(program.marks))
    program.input
      .filter(c => read.contains(c) && !known.columns.exists(_.exprId == c.exprId))
      .map(c => c -> known.definition(c))
  }

  private def valueOf(column: Attribute, struct: Expression, all: Seq[Attribute]): Literal = {
    val fields = struct.dataType.asInstanceOf[StructType]
    val named = fields.indices.filter(i => SQLConf.get.resolver(fields(i).name, column.name))
    if (named.length != 1 || fields.length != all.length)
      refuse(
        s"it is ${exampleOf(all)}, with a field for each of these, where it is ${struct.sql}"
      )
    val zone = Some(SQLConf.get.sessionLocalTimeZone)
    val cast = Cast(GetStructField(struct, named.head), column.dataType, zone, EvalMode.ANSI)
    if (cast.checkInputDataTypes().isFailure)
      refuse(
        s"the column ${column.name} has type ${column.dataType.sql}, and the field " +
          fields(named.head).dataType.sql
      )
    Literal.create(cast.eval(), column.dataType)
  }

  private def missing(program: StreamProgram, columns: Seq[Attribute]): String =
    s"${program.source.distinct.mkString(", ")} has each row's own width, and a time has none; " +
      s"give it as widths, the fourth argument in SQL, as in ${exampleOf(columns)}"

  private def exampleOf(columns: Seq[Attribute]): String =
    columns.map(c => s"'${c.name}', <${c.dataType.sql}>").mkString("named_struct(", ", ", ")")

  private def refuse(why: String): Nothing = throw ReadState.refuse("widths", why)
}

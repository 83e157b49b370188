package io.sash.spark.hops

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DataType, LongType, StructType}

/** The expressions of a window's output row. */
private[spark] object HopAnswer {

  /**
   * The output row: keys, window, answers. The expressions are over a row of the keys, the
   * answers, and the window's start and end in microseconds.
   *
   * @param window the type of the window
   * @param behind the number of columns between the answers and the start
   */
  def row(
      keys: Seq[Attribute],
      answers: Seq[Attribute],
      window: DataType,
      behind: Int = 0
  ): Seq[Expression] = {
    val values = (keys ++ answers).zipWithIndex.map { case (a, i) =>
      BoundReference(i, a.dataType, a.nullable)
    }
    val bounds = Seq(0, 1).map { i =>
      BoundReference(values.length + behind + i, LongType, nullable = false)
    }
    values.take(keys.length) ++ (struct(bounds, window) +: values.drop(keys.length))
  }

  /**
   * A window as the struct of its start and its end.
   *
   * @param bounds the start and the end, in microseconds
   * @param window the type of the window
   */
  def struct(bounds: Seq[Expression], window: DataType): CreateNamedStruct =
    CreateNamedStruct(Seq("start", "end").zip(bounds).flatMap { case (name, micros) =>
      val time = window.asInstanceOf[StructType](name).dataType
      Seq(Literal(name), PreciseTimestampConversion(micros, LongType, time))
    })
}

package org.apache.spark.sql.sash

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry.FunctionBuilder
import org.apache.spark.sql.catalyst.expressions.{
  ExpectsInputTypes,
  Expression,
  ExpressionInfo,
  HigherOrderFunction,
  ImplicitCastInputTypes
}
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreProviderId}
import org.apache.spark.sql.types.{AbstractDataType, AnyDataType, DataType}

/** What Sash needs of Spark's `private[sql]` parts. */
object SqlInternals {

  /** Makes all NaNs one, and -0.0 the same as 0.0, in values of any type. */
  def normalized(e: Expression): Expression = NormalizeFloatingNumbers.normalize(e)
}

/** The same for functions, which alone need it. */
object FunctionInternals {

  /** Registers a function that no SQL can name, for all sessions of the JVM. */
  def registerInternalFunction(
      name: String,
      info: ExpressionInfo,
      build: FunctionBuilder
  ): Unit = FunctionRegistry.internal.registerFunction(FunctionIdentifier(name), info, build)
}

/** The same for streams. */
object StreamInternals {

  /** Whether the process has a state store, of the run of a query that it is active in. */
  def isLoaded(store: StateStoreProviderId): Boolean = StateStore.isLoaded(store)
}

/** A function of an argument of any type and of a lambda. */
trait WithLambda extends HigherOrderFunction {
  def argument: Expression

  def lambda: Expression

  /** What the lambda has to answer. */
  def lambdaType: DataType

  override final def arguments: Seq[Expression] = Seq(argument)

  override final def argumentTypes: Seq[AbstractDataType] = Seq(AnyDataType)

  override final def functions: Seq[Expression] = Seq(lambda)

  override final def functionTypes: Seq[AbstractDataType] = Seq(lambdaType)
}

/** Children of which the first are cast as those of another expression would be. */
trait CastsAs extends ImplicitCastInputTypes {

  /** The other expression. */
  protected def castAs: Expression

  override final def inputTypes: Seq[AbstractDataType] = {
    val types = castAs match {
      case e: ExpectsInputTypes => e.inputTypes.take(castAs.children.length)
      case _                    => Nil
    }
    types.padTo(children.length, AnyDataType)
  }
}

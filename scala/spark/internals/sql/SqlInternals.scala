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
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.{DataFrame, Dataset, SparkSession}
import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreProviderId}
import org.apache.spark.sql.types.{AbstractDataType, AnyDataType, DataType}
import org.apache.spark.storage.StorageLevel

/** Opens `private[sql]` parts of Spark to Sash. */
object SqlInternals {

  /** Maps all NaNs to one NaN, and -0.0 to 0.0, in values of any type. */
  def normalized(e: Expression): Expression = NormalizeFloatingNumbers.normalize(e)
}

/** Likewise, for functions. Only the functions feature links to it. */
object FunctionInternals {

  /** Registers an internal function for all sessions of the JVM. SQL cannot call it by name. */
  def registerInternalFunction(
      name: String,
      info: ExpressionInfo,
      build: FunctionBuilder
  ): Unit = FunctionRegistry.internal.registerFunction(FunctionIdentifier(name), info, build)
}

/** Likewise, for streams. Only the streams feature links to it. */
object StreamInternals {

  /** Whether this process has loaded a state store. The store's id names the query's run. */
  def isLoaded(store: StateStoreProviderId): Boolean = StateStore.isLoaded(store)
}

/** A higher-order function with two arguments: one of any type, and a lambda. */
trait WithLambda extends HigherOrderFunction {
  def argument: Expression

  def lambda: Expression

  /** The type that the lambda has to return. */
  def lambdaType: DataType

  override final def arguments: Seq[Expression] = Seq(argument)

  override final def argumentTypes: Seq[AbstractDataType] = Seq(AnyDataType)

  override final def functions: Seq[Expression] = Seq(lambda)

  override final def functionTypes: Seq[AbstractDataType] = Seq(lambdaType)
}

/** Casts the first children as Spark casts the children of another expression. */
trait CastsAs extends ImplicitCastInputTypes {

  /** The expression whose input types the first children take. */
  protected def castAs: Expression

  override final def inputTypes: Seq[AbstractDataType] = {
    val types = castAs match {
      case e: ExpectsInputTypes => e.inputTypes.take(castAs.children.length)
      case _                    => Nil
    }
    types.padTo(children.length, AnyDataType)
  }
}

/** Likewise, for the refresh of tables. */
object RefreshInternals {

  /** A DataFrame of a logical plan. */
  def rows(session: SparkSession, plan: LogicalPlan): DataFrame = Dataset.ofRows(session, plan)

  /** The rows of a DataFrame, which Spark keeps in memory or on disk while they are in use. */
  def kept(of: DataFrame): DataFrame = {
    val rows = of.queryExecution.toRdd.map(_.copy()).persist(StorageLevel.MEMORY_AND_DISK)
    of.sparkSession.internalCreateDataFrame(rows, of.schema)
  }
}

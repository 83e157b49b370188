package io.sash.spark.names

import scala.collection.mutable

import org.apache.spark.sql.{AnalysisException, Row, SparkSession}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.{
  UnresolvedAlias,
  UnresolvedFunction,
  UnresolvedFunctionName
}
import org.apache.spark.sql.catalyst.plans.logical.{
  DescribeFunction,
  LogicalPlan,
  OneRowRelation,
  Project
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.UNRESOLVED_FUNCTION
import org.apache.spark.sql.execution.command.{
  CreateSQLFunctionCommand,
  DescribeFunctionCommand,
  LeafRunnableCommand
}

import io.sash.spark.base.{FunctionVersions, SashConf}

/**
 * Resolves a name to Sash's function, unless Spark has a function of this name, or the user has
 * one in the session or in a catalogue. The rule runs before the analyzer checks that all
 * functions exist, also in analyses of subqueries, views and bodies of SQL functions. Cost for
 * other plans: a look at the pattern bits, and one map look-up per unresolved function.
 */
private[spark] final class ResolveSashNames(session: SparkSession) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SashConf.enabled(session)) plan
    else
      plan match {
        case DescribeFunction(function: UnresolvedFunctionName, extended) =>
          SashNames
            .of(function.multipartIdentifier)
            .filterNot(_ => Owners.isTaken(session, function))
            .fold(plan)(name => DescribeFunctionCommand(SashNames.info(name), extended))
        case _ => named(plan)
      }

  private def named(plan: LogicalPlan): LogicalPlan = {
    lazy val taken = mutable.Map.empty[Seq[String], Boolean]
    plan.resolveExpressionsWithPruning(_.containsPattern(UNRESOLVED_FUNCTION)) {
      case call: UnresolvedFunction if !call.isInternal =>
        SashNames
          .of(call.nameParts)
          .filterNot(_ =>
            taken.getOrElseUpdate(call.nameParts, Owners.isTaken(session, call.nameParts))
          )
          .fold(call)(name => FunctionVersions.internalFunction(call, SashNames.internal(name)))
    }
  }
}

/**
 * Whether Spark or the user has a function of some name. It asks the analyzer's own rules. They
 * know how this version of Spark resolves names, also inside a view or a SQL function.
 */
private[names] object Owners {
  def isTaken(session: SparkSession, parts: Seq[String]): Boolean = {
    val id = FunctionIdentifier(parts.last, parts.dropRight(1).headOption)
    val call = UnresolvedFunction(id, Nil, isDistinct = false)
    val plan = Project(Seq(UnresolvedAlias(call)), OneRowRelation())
    try {
      val _ = session.sessionState.analyzer.LookupFunctions(plan)
      true
    } catch {
      case e: AnalysisException => e.getCondition == "NOT_A_SCALAR_FUNCTION"
    }
  }

  /** Likewise, for DESCRIBE, which also knows table-valued functions. */
  def isTaken(session: SparkSession, function: UnresolvedFunctionName): Boolean =
    try session.sessionState.analyzer.ResolveFunctions(function).resolved
    catch { case _: AnalysisException => false }
}

/** Finds CREATE FUNCTION … RETURN … whose body calls Sash's functions. */
private[spark] final class CreateOverSash(session: SparkSession) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case create: CreateSQLFunctionCommand if SashConf.enabled(session) =>
      val own = SashNames.in((create.exprText ++ create.queryText).mkString(" "))
      val names = own.filterNot(name =>
        name.equalsIgnoreCase(create.name.funcName) || Owners.isTaken(session, Seq(name))
      )
      if (names.isEmpty) create else CreateSqlFunction(create, names)
    case _ => plan
  }
}

/**
 * Runs CREATE FUNCTION whose body calls Sash's functions. Spark's command looks functions up in
 * the session's registry, without the analyzer. So the names are registered there while the
 * command runs.
 */
private[names] final case class CreateSqlFunction(
    create: CreateSQLFunctionCommand,
    names: Seq[String]
) extends LeafRunnableCommand {

  override def run(session: SparkSession): Seq[Row] = CreateSqlFunction.synchronized {
    val registry = session.sessionState.functionRegistry
    val ids = names.map(FunctionVersions.builtinName(registry, _))
    names.zip(ids).foreach { case (name, id) =>
      registry.registerFunction(id, SashNames.info(name), SashNames.build(name))
    }
    try create.run(session)
    finally ids.foreach(registry.dropFunction)
  }
}

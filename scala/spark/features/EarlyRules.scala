package io.sash.spark.features

import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.analysis.Analyzer
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.internal.StaticSQLConf.CATALOG_IMPLEMENTATION
import org.slf4j.LoggerFactory

/**
 * The rules that run before the analyzer checks that all functions exist. Spark has one hook for
 * them, `injectHintResolutionRule`, and Spark 4.2.0 with Hive ignores that hook (SPARK-59081).
 *
 * So in a session with Hive, `EarlyRules` adds the rules to the analyzer itself if the hook has
 * not. The analyzer can be reached only when its session is complete, and no hook says when that
 * is. So two hooks that come later do it. One of them precedes each analysis that could meet an
 * unknown name:
 *
 *   - The session's parser. The names in SQL and in `call_function` come through it.
 *   - A resolution rule. The names in a DataFrame come through the parser of the active session,
 *     which may be another one. But the DataFrame below has been analyzed in its own session.
 *
 * @param rules makes each rule for a session
 */
private[features] final class EarlyRules(rules: Seq[SparkSession => Rule[LogicalPlan]]) {
  import EarlyRules._

  def inject(extensions: SparkSessionExtensions): Unit = {
    rules.foreach(make => extensions.injectHintResolutionRule(s => new Early(make(s))))
    extensions.injectParser { (session, parser) =>
      if (usesHive(session)) WatchedParser(parser, () => add(session)) else parser
    }
    extensions.injectResolutionRule { session =>
      if (usesHive(session)) new AddEarlyRules(() => add(session))
      else new AddEarlyRules(() => ())
    }
  }

  private def add(session: SparkSession): Unit = {
    val analyzer = session.sessionState.analyzer
    if (!has(analyzer)) analyzer.synchronized {
      if (!has(analyzer)) append(analyzer, rules.map(make => new Early(make(session))))
    }
  }
}

private[spark] object EarlyRules {
  private val log = LoggerFactory.getLogger("io.sash.spark.SashExtensions")

  private val Unknown =
    "the analyzer of this session runs no rule of Sash's before it looks functions up"

  private val SinglePass = "spark.sql.analyzer.singlePassResolver.enabled"

  /** The reason why no function of Sash is known in a session. */
  def reason(session: SparkSession): Option[String] =
    if (session.conf.get(SinglePass, "false").toBoolean)
      Some(s"$Unknown, since $SinglePass is true")
    else if (has(session.sessionState.analyzer)) None
    else Some(Unknown)

  private def has(analyzer: Analyzer): Boolean =
    analyzer.hintResolutionRules.exists(_.isInstanceOf[Early])

  private def append(analyzer: Analyzer, rules: Seq[Rule[LogicalPlan]]): Unit =
    try {
      val field = classOf[Analyzer].getDeclaredField("hintResolutionRules")
      field.setAccessible(true)
      field.set(analyzer, analyzer.hintResolutionRules ++ rules)
    } catch {
      case e @ (_: ReflectiveOperationException | _: RuntimeException) =>
        log.warn(s"Sash's functions have no names: $Unknown", e)
    }

  private def usesHive(session: SparkSession): Boolean =
    session.sparkContext.getConf.get(CATALOG_IMPLEMENTATION.key, "") == "hive"

  private final class Early(rule: Rule[LogicalPlan]) extends Rule[LogicalPlan] {
    override val ruleName: String = rule.ruleName

    override def apply(plan: LogicalPlan): LogicalPlan = rule(plan)
  }

  private final class AddEarlyRules(add: () => Unit) extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = {
      add()
      plan
    }
  }
}

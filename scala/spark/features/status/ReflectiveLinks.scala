package io.sash.spark.features.status

import FeatureName.{Functions, Hops, Lateral, Ordering, Streams, Windows}

/**
 * The links by reflection: those in `SparkVersions`, and fields that other code reads by their
 * names.
 */
private[spark] object ReflectiveLinks {
  private val Catalyst = "org/apache/spark/sql/catalyst"
  private val Execution = "org/apache/spark/sql/execution"
  private val Streaming = s"$Execution/streaming"

  val All: Seq[ReflectiveLink] = Seq(
    withDefaults(
      s"$Catalyst/plans/physical/ClusteredDistribution",
      Seq(Sequence),
      Windows,
      Ordering,
      Hops
    ),
    withDefaults(s"$Catalyst/optimizer/InlineCTE", Seq("Z"), Streams),
    withDefaults(
      s"$Catalyst/plans/logical/Window",
      Seq(Sequence, Sequence, Sequence, s"L$Catalyst/plans/logical/LogicalPlan;"),
      Lateral
    ),
    ReflectiveLink(Seq(Windows, Streams), "an expression that adds an interval to a time") {
      classes =>
        Seq("TimestampAddInterval", "TimeAdd")
          .flatMap(name => classes.get(s"$Catalyst/expressions/$name"))
          .headOption
          .flatMap(ReflectiveLink.longestConstructor)
          .contains(Seq(Expression, Expression, "Lscala/Option;"))
    },
    ReflectiveLink(Seq(Windows), "the constructor of Window that Sash copies it by") { classes =>
      classes
        .get(s"$Catalyst/plans/logical/Window")
        .flatMap(ReflectiveLink.longestConstructor)
        .exists(_.headOption.contains(Sequence))
    },
    ReflectiveLink(Seq(Functions, Windows), "Catalyst's toPrettySQL") { classes =>
      val defaults = classes.get(s"$Catalyst/util/package$$").map(_.methodKeys).getOrElse(Array())
      defaults.exists(_.startsWith(s"toPrettySQL(L$Catalyst/expressions/Expression;"))
    },
    fields(
      Seq("", "operators/stateful/transformwithstate/").map(p =>
        s"$Streaming/${p}TransformWithStateExec"
      ),
      "eventTimeWatermarkForLateEvents",
      "stateInfo"
    ),
    fields(
      Seq("", "operators/stateful/").map(p => s"$Streaming/${p}StatefulOperatorStateInfo"),
      "checkpointLocation",
      "operatorId"
    ),
    ReflectiveLink(
      Seq(Hops),
      "the aggregates' field requiredChildDistributionExpressions"
    ) { classes =>
      val half = s"$Execution/aggregate/HashAggregateExec"
      classes.get(half).exists(hasField(_, "requiredChildDistributionExpressions"))
    }
  )

  private def Expression = s"L$Catalyst/expressions/Expression;"

  private def Sequence = "Lscala/collection/immutable/Seq;"

  /** @param firsts the types of the parameters that Sash gives; the others have defaults */
  private def withDefaults(
      name: String,
      firsts: Seq[String],
      features: FeatureName*
  ): ReflectiveLink =
    ReflectiveLink(features, s"the constructor of ${name.split('/').last} with defaults") {
      classes =>
        val constructor = classes.get(name).flatMap(ReflectiveLink.longestConstructor)
        val defaults = classes
          .get(name + "$")
          .fold(Set.empty[String])(_.methodKeys.map(_.takeWhile(_ != '(')).toSet)
        constructor.exists { types =>
          types.startsWith(firsts) && (firsts.length + 1 to types.length).forall(i =>
            defaults(s"$$lessinit$$greater$$default$$$i")
          )
        }
    }

  /** Checks that the first class found has fields of all these names. */
  private def fields(oneOf: Seq[String], names: String*): ReflectiveLink =
    ReflectiveLink(
      Seq(Streams),
      s"${names.mkString(" or ")} of ${oneOf.head.split('/').last}"
    ) { classes =>
      oneOf.flatMap(classes.get).headOption.exists(c => names.forall(hasField(c, _)))
    }

  private def hasField(c: ClassFacts, name: String): Boolean =
    c.methodKeys.exists(_.startsWith(s"$name()"))
}

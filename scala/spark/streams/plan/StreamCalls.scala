package io.sash.spark.streams.plan

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical.Window
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.internal.SQLConf

import io.sash.spark.base.{NoWatermark, SashConf}
import io.sash.spark.kinds._
import io.sash.spark.monoids.{AggregateMonoid, Algorithm, ForestAlgorithm, LambdaBodies, Place}
import io.sash.spark.multisets.{ReplayedMonoid, WindowMonoid}
import io.sash.spark.streams.checkpoint.StateSignature
import io.sash.spark.streams.program._

/**
 * The calls of a Window as a program of windows and monoids, each of them once.
 *
 * @param original the Window as it was before its functions were replaced
 * @param window the Window with an aggregate in place of each function, over `inputs`
 * @param inputs columns made for the arguments of aggregates, beside the columns of the child
 * @param signature describes expressions over the window's child
 * @param source the Window's expressions as the user wrote them
 */
private[streams] final class StreamCalls(
    original: Window,
    window: Window,
    inputs: Seq[Alias],
    signature: Signature,
    source: WindowSourceText,
    conf: SQLConf
) {
  import StreamCalls._

  private val expressions = window.windowExpressions
    .flatMap(_.collect { case w: WindowExpression => w })
    .distinctBy(_.canonicalized)

  private val time = window.orderSpec.head
  private val reader = new FrameReader(window.orderSpec.head.child, overRows, source, conf)
  private val windows = expressions.map(reader.read)
  private val aggregates = expressions.map(aggregateOf)

  /**
   * The columns of a row that waits because windows look ahead in time: the time that the
   * watermark has to pass, and the row's place among equal rows. Until `LaterAnswers` sets the
   * place, it is the event time, which is the same for equal rows.
   */
  lazy val waiting: Seq[Alias] = due.toSeq.flatMap { d =>
    Seq(d, Alias(time.child, "position")(explicitMetadata = NoWatermark.Explicit))
  }

  private val due: Option[Alias] = {
    val times = windows.distinct.flatMap(_.due).map(reader.marks)
    Option.when(times.nonEmpty)(
      Alias(times.reduce((a, b) => Greatest(Seq(a, b))), "due")()
    )
  }

  /**
   * The aggregate and the window of each call. Calls with equal aggregates and windows (a minute,
   * 60 seconds) are answered once.
   */
  private val answered: Seq[(Expression, StreamShape)] =
    aggregates.map(_.canonicalized).zip(windows)

  def program(input: Seq[Attribute], keys: Seq[Expression], time: Int): StreamProgram = {
    val trees = this.trees(input)
    val output = this.output(input)
    val later = this.later(input)
    (output ++ reader.marks ++ trees.flatMap(_.slots.holds)).foreach(refuseMoment)
    StreamProgram(
      StreamRows(input, keys, time, window.orderSpec),
      trees,
      allWindows,
      reader.marks,
      StreamAnswers(
        expressions.map(_.dataType),
        output,
        expressions.indices.map(i => expressions(answered.indexOf(answered(i)))),
        source.calls
      ),
      later,
      AnswerMode.Append,
      describe(trees),
      timeToLive(later)
    )
  }

  private def timeToLive(later: Option[StreamLater]): Option[Long] = {
    val time = SashConf.keyTimeToLive(conf)
    if (time.nonEmpty && later.nonEmpty)
      refuse(
        s"with ${SashConf.StreamKeyTimeToLive.key} no frame may look ahead, whose rows " +
          "would wait for rows of a key that begins anew; unset it, or end the frame at its row"
      )
    time
  }

  private def allWindows: Seq[StreamShape] = windows.distinct

  /** Groups the aggregates that the same windows ask for, over the same kind of elements. */
  private def trees(input: Seq[Attribute]): Seq[TreeProgram] = {
    val distinct = aggregates.distinctBy(_.canonicalized)
    val alike = allWindows.indices.groupBy(w => elementsOf(allWindows(w))).toSeq
    alike.sortBy(_._2.head).flatMap { case (elements, among) =>
      val asking = distinct
        .map(a => (among.filter(w => answered.contains((a.canonicalized, allWindows(w)))), a))
        .filter(_._1.nonEmpty)
      elements match {
        case StreamElements.Bounded(number) =>
          Seq(bounded(input, among, asking.map(_._2), reader.conditions(number)))
        case _ =>
          val together = asking.map { case (windows, a) => (windows, a, monoidOf(a)) }
          together
            .groupBy { case (windows, _, m) => (windows, algorithmOf(Seq(m)), m.running.isEmpty) }
            .toSeq
            .sortBy(g => asking.indexOf((g._2.head._1, g._2.head._2)))
            .map { case ((windows, _, _), of) =>
              group(input, windows, of.map(_._2), of.map(_._3))
            }
      }
    }
  }

  private def elementsOf(window: StreamShape): StreamElements = window.condition match {
    case Some(number)                => StreamElements.Bounded(number)
    case None if window.countsGroups => StreamElements.ByGroup
    case None                        => StreamElements.ByTime
  }

  /**
   * The group of windows with a condition. Its slots also hold the aggregates that the condition
   * reads, since it is checked for every row that may leave.
   */
  private def bounded(
      input: Seq[Attribute],
      windows: Seq[Int],
      functions: Seq[AggregateExpression],
      condition: StreamCondition
  ): TreeProgram = {
    val aggregates = (functions ++ condition.of).distinctBy(_.canonicalized)
    val monoids = aggregates.map { a =>
      val m = monoidOf(a)
      m.running.fold(m)(ReplayedMonoid(_, a.filter))
    }
    val lowered = condition.of.map { a =>
      monoids(aggregates.indexWhere(_.canonicalized == a.canonicalized)).lower
    }
    val of = group(input, windows, aggregates, monoids)
    of.copy(slots =
      of.slots.copy(holds = Some(LambdaBodies.compilable(condition.holds(lowered))))
    )
  }

  private def group(
      input: Seq[Attribute],
      windows: Seq[Int],
      aggregates: Seq[AggregateExpression],
      monoids: Seq[AggregateMonoid]
  ): TreeProgram = {
    // -1 (NotAsked) if no call asks for the aggregate over the window
    val ordinals = aggregates.map { a =>
      windows.map(w => answered.indexOf((a.canonicalized, allWindows(w))))
    }
    val algorithm = algorithmOf(monoids)
    TreeProgram(
      algorithm,
      algorithm.program(input, monoids, ordinals),
      windows,
      PartialsSignature.of(monoids)
    )
  }

  private def algorithmOf(monoids: Seq[AggregateMonoid]): ForestAlgorithm =
    Algorithm.choose(monoids, SashConf.algorithm(conf), Place.Forest)

  private def output(input: Seq[Attribute]): Seq[Expression] = {
    val answers = expressions.zipWithIndex.map { case (e, i) =>
      e.canonicalized -> BoundReference(
        input.length + answered.indexOf(answered(i)),
        e.dataType,
        e.nullable
      )
    }.toMap
    window.child.output ++ window.windowExpressions.map(_.transform { case w: WindowExpression =>
      answers(w.canonicalized)
    })
  }

  /** Describes everything that the state depends on. */
  private def describe(trees: Seq[TreeProgram]): StreamSignature = {
    val later =
      this.later(Nil).fold("at once")(l => s"${l.rows} rows and ${l.groups} groups later")
    val conditions = reader.conditions.map { c =>
      c.holds(c.of.map(a => AttributeReference("answer", a.dataType, a.nullable)()))
    }
    val zoned = original.partitionSpec ++ original.orderSpec ++ original.windowExpressions ++
      reader.marks ++ conditions
    val parts = Seq(
      StateSignature.Keys -> signature.all(original.partitionSpec),
      StateSignature.Order -> signature.all(original.orderSpec),
      StateSignature.Aggregates -> calls.mkString(", "),
      StateSignature.Windows -> allWindows.map(_.signature).mkString(", "),
      StateSignature.Bounds -> signature.all(reader.marks.map(overRows)),
      StateSignature.Conditions -> signature.all(
        reader.conditions.map(c => overRows(c.signature))
      ),
      "answers" -> later,
      StateSignature.Partials -> trees.map(_.signature).mkString(", "),
      StateSignature.Algorithms -> trees.map(_.algorithm.id).distinct.mkString(", "),
      StateSignature.Buckets -> SashConf.streamBuckets(conf).toString
    ) ++ SashConf.keyTimeToLive(conf).map(t => StateSignature.TimeToLive -> s"${t / 1000}ms")
    StreamSignature(
      parts,
      window.child.output.map(c => c.exprId -> signature.of(c)).toMap ++
        (inputs ++ waiting).map(c => c.exprId -> c.name),
      Option.when(zoned.exists(signature.isZoned))(conf.sessionLocalTimeZone)
    )
  }

  /** The expression over the window's child, without the columns made for arguments. */
  private def overRows(e: Expression): Expression = e.transform { case a: Attribute =>
    inputs.find(_.exprId == a.exprId).fold[Expression](a)(_.child)
  }

  /** The calls as the user wrote them, each with the numbers of the windows that answer it. */
  private def calls: Seq[String] = original.windowExpressions
    .zip(window.windowExpressions)
    .map { case (source, replaced) =>
      val functions = source.collect { case w: WindowExpression =>
        signature.of(w.windowFunction)
      }
      val over = replaced.collect { case w: WindowExpression => allWindows.indexOf(windowOf(w)) }
      s"${functions.mkString(", ")} in window ${over.distinct.mkString(", ")}"
    }
    .distinct

  private def windowOf(e: WindowExpression): StreamShape =
    windows(expressions.indexWhere(_.canonicalized == e.canonicalized))

  private def aggregateOf(e: WindowExpression): AggregateExpression = e.windowFunction match {
    case a: AggregateExpression => SlidingAggregate.withoutWindows(a)
    case f                      => refuse(notAnAggregate(f))
  }

  /** Says why a function is refused, and which one to write instead. */
  private def notAnAggregate(f: Expression): String = f match {
    case _: NTile | _: PercentRank | _: CumeDist =>
      val inFrame = NoAggregate.rankInFrame(f, "x").get
      s"${source(f)} depends on how many rows its partition has, which is never known on a " +
        s"stream; write $inFrame, which ranks a value x among those of a frame, or $InBatch"
    case l: FrameLessOffsetWindowFunction =>
      s"${source(f)} IGNORE NULLS looks for rows without a bound, which on a stream only lag " +
        "by one row " +
        s"does; leave rows where ${source(l.input)} is NULL out below the window, and write " +
        "it without IGNORE NULLS"
    case n: NthValue =>
      s"${source(f)} is not an aggregate; write " +
        s"try_element_at(collect_list(${source(n.input)}), " +
        s"${source(n.offset)}) with collect_list over the same window, which leaves NULLs out"
    case _ => s"${source(f)} is not an aggregate; write one over the same window, or $InBatch"
  }

  private def monoidOf(a: AggregateExpression): AggregateMonoid = WindowMonoid.of(a) match {
    case Right(m) => m
    case Left(r) =>
      refuse(
        s"${source(a)} has no partial answer: ${r.reason}; write another aggregate, or $InBatch"
      )
  }

  /** The rows, groups or times that a row waits for, if windows look ahead. */
  private def later(input: Seq[Attribute]): Option[StreamLater] = {
    val rows = allWindows.map(_.rowsAhead).max
    val groups = allWindows.map(_.groupsAhead).max
    val looksAhead = rows > 0 || groups > 0 || due.nonEmpty
    val whyNot = allWindows.flatMap(_.whyNotAhead)
    if (looksAhead)
      whyNot.headOption.foreach { what =>
        refuse(
          s"beside a frame that looks ahead no window may $what; ask for them in one query each"
        )
      }
    Option.when(looksAhead)(
      StreamLater(
        rows,
        groups,
        Option.when(due.nonEmpty) {
          val Seq(at, position) = waiting.map(c => input.indexWhere(_.exprId == c.exprId))
          StreamDue(at, position)
        }
      )
    )
  }

  /**
   * Refuses expressions such as current_timestamp(). Spark replaces them in the plan of each
   * batch, but not in the program that is sent to tasks.
   */
  private def refuseMoment(e: Expression): Unit = if (e.containsPattern(CURRENT_LIKE)) {
    if (e.children.exists(_.containsPattern(CURRENT_LIKE))) e.children.foreach(refuseMoment)
    else
      refuse(
        s"${source(e)} asks for the time or the user of the moment; name it as a column " +
          s"below the window"
      )
  }

  private def refuse(why: String): Nothing = throw StreamErrors.unsupported(source, why)
}

private object StreamCalls {
  private[plan] val InBatch = "ask for it in batch, over a table that the stream is written to"
}

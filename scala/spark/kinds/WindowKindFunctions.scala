package io.sash.spark.kinds

import org.apache.spark.sql.catalyst.expressions.{Expression, LambdaFunction, Literal}
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression,
  AggregateFunction,
  Complete
}

import io.sash.spark.base.{NamedArguments, SashErrors, SashFunction}
import io.sash.spark.times.IntervalText

/**
 * The SQL functions that make window kinds and modifiers. docs/functions.md is generated from
 * them.
 */
private[spark] object WindowKindFunctions {

  val All: Seq[SashFunction] = Seq(
    kind(
      "count_window",
      """
      The last `size` rows of the order, the current one among them.

      * size - how many, a constant of 1 or more

      > SELECT x, sum(x) OVER (PARTITION BY _FUNC_(2) ORDER BY x) FROM VALUES (1), (2), (4) AS
        t(x);
      1  1
      2  3
      4  6

      The same as ROWS BETWEEN size - 1 PRECEDING AND CURRENT ROW.
      """,
      classOf[CountWindow]
    ) { case Seq(size) => CountWindow(size) },
    kind(
      "time_window",
      """
      The rows whose place in the order lies at most `size` before the current row's.

      * size - a constant: a number for an order by a number, an interval for one by time; or
        a string, as in '1 hour'
      * closed - the ends that belong to the window: 'both', if it is left out, 'right',
        'left' or 'neither'
      * center - true if the current row is in the middle; false if it is left out
      * hop - if the window begins at a multiple of this extent, so that its begin moves in hops:
        a sawtooth window

      > SELECT x, sum(x) OVER (PARTITION BY _FUNC_(2) ORDER BY x) AS s, sum(x) OVER (PARTITION
        BY _FUNC_(2, 'left') ORDER BY x) AS before FROM VALUES (1), (2), (4) AS t(x);
      1  1  NULL
      2  3  1
      4  6  2

      Without `closed` and `center` it is RANGE BETWEEN size PRECEDING AND CURRENT ROW, with
      peers. An end that does not belong to the window is moved by a unit of the order: 1, a
      day, or a microsecond. So these two arguments want an order by integers, dates or
      timestamps. The middle is as in pandas: half of `size` before and after. Half of an odd
      number of units lies between two of them, and there an open end leaves no row out.

      With `hop` the window begins at the last multiple of `hop` that is at least `size` before
      the row, and is between `size` and `size` + `hop` long. Multiples are counted from 0, or
      from 1970-01-01 00:00:00 UTC; a day is 24 hours there. Arguments may be given by
      name, as in time_window('7 days', hop => '1 hour').
      """,
      classOf[DurationWindow],
      optional = 3,
      takesNames = true
    ) { case size +: more =>
      timeWindow(size, more.map(e => Option.when(e ne NamedArguments.LeftOut)(e)))
    },
    kind(
      "delta_window",
      """
      Back to the oldest row that the delta policy still holds.

      * attribute - a number, date, timestamp or interval
      * delta - a constant that can be subtracted from it, 0 or more; or a string, as in '1
        hour'

      > SELECT x, count(*) OVER (PARTITION BY _FUNC_(x, 3) ORDER BY x) FROM VALUES (1), (2),
        (5) AS t(x);
      1  1
      2  2
      5  2

      When a row comes, the oldest leave while their attribute is less than the row's by more
      than `delta`. A row that has left stays out, also if the attribute falls again. A NULL
      is less than every number, and no row leaves because of one whose attribute is NULL.
      Differences are exact; differences of floats are doubles. (General Incremental
      Sliding-Window Aggregation, section 2.2.)
      """,
      classOf[DeltaWindow]
    ) { case Seq(attribute, delta) =>
      DeltaWindow(attribute, IntervalText.of("delta_window", "delta", delta))
    },
    kind(
      "punctuation_window",
      """
      The rows from the last punctuation on.

      * punctuation - a boolean; NULL is not true

      > SELECT x, count(*) OVER (PARTITION BY _FUNC_(x = 2) ORDER BY x) FROM VALUES (1), (2),
        (4) AS t(x);
      1  1
      2  1
      4  2

      A row for which it is true is the first of its window. (General Incremental
      Sliding-Window Aggregation, section 2.2.)
      """,
      classOf[PunctuationWindow]
    ) { case Seq(punctuation) => PunctuationWindow(punctuation) },
    kind(
      "gap_window",
      """
      The rows since the order last moved by `gap` or more from one row to the next: a
      session.

      * gap - a constant number or interval, more than 0, that the order can be moved by; or a
        string, as in '30 minutes'
      * longest - the same for the longest session; no limit if it is left out

      > SELECT x, count(*) OVER (PARTITION BY _FUNC_(2) ORDER BY x) AS c, count(*) OVER
        (PARTITION BY _FUNC_(2, 3) ORDER BY x) AS short FROM VALUES (1), (2), (3), (4), (7) AS
        t(x);
      1  1  1
      2  2  2
      3  3  3
      4  4  1
      7  1  1

      The order is by one expression. Rows whose place in it is NULL are a session. A row at
      the distance of `longest` or more from its session's first row begins another session.
      """,
      classOf[GapWindow],
      optional = 1
    ) { case gap +: more =>
      GapWindow(
        IntervalText.of("gap_window", "gap", gap),
        more.headOption.map(IntervalText.of("gap_window", "longest", _))
      )
    },
    kind(
      "groups_window",
      """
      The current row's peers, and whole groups of peers before and after them.

      * preceding - how many groups before, a constant of 0 or more
      * following - how many after; 0 if it is left out

      > SELECT x, sum(x) OVER (PARTITION BY _FUNC_(1) ORDER BY x) FROM VALUES (1), (2), (2) AS
        t(x);
      1  1
      2  5
      2  5

      SQL:2011's GROUPS BETWEEN preceding PRECEDING AND following FOLLOWING.
      """,
      classOf[GroupsWindow],
      optional = 1
    ) { case preceding +: more =>
      GroupsWindow(preceding, more.headOption.getOrElse(Literal(0)))
    },
    kind(
      "predicate_window",
      """
      Back to where a condition on an aggregate of the rows begins to hold.

      * aggregate - an aggregate of the rows, as in sum(x)
      * condition - a lambda from it to a boolean; NULL is not true

      > SELECT x, count(*) OVER (PARTITION BY _FUNC_(sum(x), total -> total <= 6) ORDER BY x)
        FROM VALUES (1), (2), (4) AS t(x);
      1  1
      2  2
      4  2

      When a row comes, the oldest leave until the condition holds for the others, or no row
      is left. A row that has left stays out. (Constant-Time Sliding Window Framework, section
      3.2.)
      """,
      classOf[PredicateWindow],
      lambdas = Seq("condition")
    ) {
      case Seq(aggregate, condition: LambdaFunction) => predicate(aggregate, condition)
      case _ => throw SashErrors.invalidArgument(Predicate, "condition", NoLambda)
    },
    kind(
      "rows_window",
      """
      As many rows before the current one as that row says, and itself.

      * preceding - how many, an integer; each row's own

      > SELECT x, sum(x) OVER (PARTITION BY _FUNC_(x - 1) ORDER BY x) FROM VALUES (1), (2),
        (4) AS t(x);
      1  1
      2  3
      4  7

      A row whose `preceding` is NULL or negative has a window without rows. A row costs O(log
      n) combines; counts and sums of integers take 2. The rows of a partition are held until
      it ends. To look ahead, order downwards: `ORDER BY x DESC`.
      """,
      classOf[OwnRowsWindow]
    ) { case Seq(preceding) => OwnRowsWindow(preceding) },
    kind(
      "range_window",
      """
      The rows at most as far before the current one in the order as that row says, and its
      peers.

      * preceding - a number or interval that the order can be moved by, each row's own; or a
        constant string, as in '1 hour'

      > SELECT x, sum(x) OVER (PARTITION BY _FUNC_(x - 2) ORDER BY x) FROM VALUES (2), (3),
        (4) AS t(x);
      2  2
      3  5
      4  9

      The order is by one expression. A row whose `preceding` is NULL, NaN or negative has a
      window without rows; rows whose place in the order is NULL are each other's window. A
      row costs O(log n) comparisons and O(log n) combines; counts and sums of integers take 2
      combines. The rows of a partition are held until it ends. To look ahead, order downwards:
      `ORDER BY x DESC`.
      """,
      classOf[OwnRangeWindow]
    ) { case Seq(preceding) =>
      OwnRangeWindow(IntervalText.of("range_window", "preceding", preceding))
    },
    kind(
      WindowExclude.Name,
      """
      Leaves rows out of each row's window, of whatever kind or frame.

      * rows - 'current row', 'group' (it and its peers), or 'ties' (its peers alone)

      > SELECT x, sum(x) OVER (PARTITION BY _FUNC_('current row') ORDER BY x ROWS 1 PRECEDING)
        FROM VALUES (1), (2), (4) AS t(x);
      1  NULL
      2  1
      4  2

      SQL:2011's EXCLUDE CURRENT ROW, GROUP and TIES. A row costs O(log W) combines.
      """,
      classOf[WindowExclude]
    ) { case Seq(rows) => WindowExclude(rows) },
    kind(
      "window_slide",
      """
      Lets a window, of whatever kind or frame, slide by more than a row: the others have
      NULL.

      * every - a constant number of rows, or a constant interval of an order by time; or a
        string, as in '1 minute'

      > SELECT x, sum(x) OVER (PARTITION BY _FUNC_(2) ORDER BY x ROWS 2 PRECEDING) FROM VALUES
        (1), (2), (4), (5) AS t(x);
      1  NULL
      2  3
      4  NULL
      5  11

      A slide of `every` rows answers at every row whose number in the partition, from 1, is a
      multiple of it. A slide by time answers at the first row of each pane. Panes begin at
      multiples of `every` since 1970-01-01 00:00:00 UTC, or at the beginnings of months. A
      slide changes no answer. (General Incremental Sliding-Window Aggregation, section 2:
      slide granularity.)
      """,
      classOf[WindowSlide]
    ) { case Seq(every) =>
      WindowSlide(IntervalText.of("window_slide", "every", every))
    },
    kind(
      "window_min_periods",
      """
      Gives NULL where fewer than `n` rows of a window have a value, in any kind or frame.

      * n - how many, a constant of 0 or more

      > SELECT x, sum(x) OVER (PARTITION BY _FUNC_(2) ORDER BY x ROWS 2 PRECEDING) FROM VALUES
        (1), (2), (4) AS t(x);
      1  NULL
      2  3
      4  7

      A row has a value if no argument of the aggregate is NULL; `count(*)` has one in each.
      The argument min_periods of pandas.
      """,
      classOf[WindowMinPeriods]
    ) { case Seq(n) => WindowMinPeriods(n) },
    joined(
      JoinedWindow.And,
      """
      The rows that are in the windows of both kinds.

      * first - a kind of window
      * second - a kind of window

      > SELECT x, count(*) OVER (PARTITION BY _FUNC_(gap_window(5), count_window(2)) ORDER BY
        x) FROM VALUES (1), (2), (3), (9) AS t(x);
      1  1
      2  2
      3  2
      9  1

      A session of at most 100 rows is `window_and(gap_window('1 hour'), count_window(100))`.
      Each row's own width has a bound in `window_and(rows_window(x), count_window(1000))`. A
      predicate cannot be joined. In turn, a joined window is a kind.
      """,
      ofAll = true
    ),
    joined(
      JoinedWindow.Or,
      """
      The rows from the first row of either kind's window until the last row of either.

      * first - a kind of window
      * second - a kind of window

      > SELECT x, count(*) OVER (PARTITION BY _FUNC_(gap_window(5), count_window(2)) ORDER BY
        x) FROM VALUES (1), (2), (3), (9) AS t(x);
      1  1
      2  2
      3  3
      9  2

      A whole session, but 100 rows at least, is `window_or(gap_window('1 hour'),
      count_window(100))`. A time window that ends before its row has no place here, since it
      may have no rows, nor has each row's own width. A predicate cannot be joined. In turn, a
      joined window is a kind.
      """,
      ofAll = false
    )
  )

  /** @param more the arguments after `size`, each if it is given */
  private def timeWindow(size: Expression, more: Seq[Option[Expression]]): WindowKind = {
    val (closed, center) = (more.headOption.flatten, more.lift(1).flatten)
    def extent(argument: String, e: Expression) = IntervalText.of("time_window", argument, e)
    more.lift(2).flatten match {
      case None => DurationWindow(extent("size", size), closed, center)
      case Some(_) if center.exists(c => c.foldable && c.eval() != false) =>
        throw SashErrors.invalidArgument(
          "time_window",
          "center",
          "a window that begins at a multiple of `hop` has no middle; leave one of both out"
        )
      case Some(hop) => SawtoothWindow(extent("size", size), extent("hop", hop), closed)
    }
  }

  private def joined(name: String, text: String, ofAll: Boolean): SashFunction =
    kind(name, text, classOf[JoinedWindow]) { kinds =>
      val known = kinds.map {
        case PendingKind(kind) => kind
        case other             => other
      }
      Seq("first", "second").zip(known).foreach { case (argument, kind) =>
        JoinedWindow
          .fault(kind, ofAll)
          .foreach(why => throw SashErrors.invalidArgument(name, argument, why))
      }
      JoinedWindow(known.collect { case k: WindowKind => k }, ofAll)
    }

  private def predicate(aggregate: Expression, condition: LambdaFunction): PredicateWindow =
    aggregate match {
      case AggregateExpression(f, Complete, false, None, _) => PredicateWindow(f, condition)
      case AggregateExpression(f, _, _, _, _) =>
        throw SashErrors.invalidArgument(Predicate, "aggregate", refined(f))
      case _ => throw SashErrors.invalidArgument(Predicate, "aggregate", NoAggregate)
    }

  private def refined(f: AggregateFunction): String =
    s"${f.sql(isDistinct = false)} has DISTINCT or FILTER; take neither, or make its input " +
      s"NULL by IF"

  private def Predicate = "predicate_window"
  private def NoAggregate =
    "it is no aggregate; write one, as in sum(x)"
  private def NoLambda = "it is no lambda; write one, as in total -> total <= 100"

  private def kind(
      name: String,
      text: String,
      implementation: Class[_],
      optional: Int = 0,
      lambdas: Seq[String] = Nil,
      takesNames: Boolean = false
  )(make: Seq[Expression] => WindowKind): SashFunction =
    SashFunction.of(
      name,
      text,
      implementation,
      optional,
      group = "window_funcs",
      lambdas = lambdas,
      takesNames = takesNames
    )(arguments =>
      make(arguments) match {
        case predicate: PredicateWindow => predicate.copy(isPending = true)
        case other                      => PendingKind(other)
      }
    )
}

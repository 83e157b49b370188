package io.sash.spark.slots

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Ascending,
  Attribute,
  AttributeReference,
  Coalesce,
  Literal,
  SortOrder,
  WindowExpression
}
import org.apache.spark.sql.catalyst.plans.logical.Window
import org.apache.spark.sql.types.DataType

import io.sash.core.frames.KeyBound
import io.sash.spark.{SashSuite, TestTable, WindowCalls, WindowFrames}
import io.sash.spark.monoids.Algorithm
import io.sash.spark.windows.{WindowCall, WindowProgram}

/** Every operation of every kind of slots, for the programs of all aggregates and all keys. */
class SlotColumnsSuite extends SashSuite {
  private val seed = 99L

  /** The window node of the calls, with the rows that it reads. */
  private def window(calls: Seq[String], over: String): (Window, IndexedSeq[InternalRow]) = {
    TestTable.create(spark)
    val columns = calls.zipWithIndex.map { case (call, i) => s"$call OVER $over AS c$i" }
    val plan = spark.sql(s"SELECT ${columns.mkString(", ")} FROM data").queryExecution
    val Seq(window) = plan.optimizedPlan.collect { case w: Window => w }
    val child = spark.sessionState.executePlan(window.child)
    (window, child.toRdd.map(_.copy()).collect().toIndexedSeq)
  }

  private def callsOf(window: Window): Seq[WindowCall] =
    window.windowExpressions
      .flatMap(_.collect { case w: WindowExpression => w })
      .map(WindowCall.of(_, Algorithm.Auto).fold(r => fail(r.reason), call => call))

  private def exercise(
      algorithm: Algorithm,
      call: WindowCall,
      input: Seq[Attribute],
      rows: IndexedSeq[InternalRow]
  ): Unit = {
    val monoid = call.monoid
    val part = algorithm.part(monoid, first = 0, result = 0)
    val program = SlotProgram(input, monoid.left, monoid.right, Seq(part))
    val kinds = new SlotKinds(program, Seq(call.expression.dataType))
    val random = new Random(seed)
    def slot(): Int = kinds.slots(random.nextInt(kinds.slots.length))
    kinds.slots.foreach(s => kinds.change("identity", s)(_.identity(s)))
    (1 to 40).foreach { _ =>
      val (a, b, c, d) = (slot(), slot(), slot(), slot())
      val row = rows(random.nextInt(rows.length))
      kinds.change("lift", a)(_.lift(a, row))
      kinds.change("copy", b)(_.copy(b, c))
      if (part.combine.nonEmpty) kinds.change("combine", c)(_.combine(c, a, d))
      if (part.subtract.nonEmpty) kinds.change("subtract", d)(_.subtract(d, c, a))
      if (part.selectsRight.nonEmpty) kinds.agree("selectsRight")(_.selectsRight(a, d))
      kinds.agree("lower")(kinds.result(_, d))
    }
    kinds.slots.foreach(s => kinds.agree("cells in the end")(kinds.contents(_, s)))
    val counted =
      Seq(part.combine.nonEmpty, part.subtract.nonEmpty, part.selectsRight.nonEmpty)
        .count(identity)
    assert(kinds.agree("operations")(_.operations) == Right(40L * counted))
  }

  /** The operations that combine several slots at once are the same as one by one. */
  private def exerciseRuns(
      call: WindowCall,
      input: Seq[Attribute],
      rows: IndexedSeq[InternalRow]
  ): Unit = {
    val monoid = call.monoid
    val part = Algorithm.TwoStacksLiteAlgorithm.part(monoid, first = 0, result = 0)
    val program = SlotProgram(input, monoid.left, monoid.right, Seq(part))
    val kinds = new SlotKinds(program, Seq(call.expression.dataType))
    val random = new Random(seed)
    val run = 1 to 5
    (1 to 4).foreach { _ =>
      (0 to 6).foreach { s =>
        val row = rows(random.nextInt(rows.length))
        if (kinds.agree("lift")(_.lift(s, row)).isLeft) kinds.agree("identity")(_.identity(s))
      }
      val slots = random.shuffle(run.toList).toArray
      val count = 1 + random.nextInt(slots.length)
      kinds.change("fold", 6)(_.fold(6, slots, count))
      if (kinds.agree("suffixes")(_.suffixes(run.head, run.last)).isRight) {
        (0 to 6).foreach(s => kinds.agree("cells of a run")(kinds.contents(_, s)))
        kinds.agree("operations")(_.operations)
      }
    }
  }

  for ((calls, i) <- WindowCalls.All.grouped(60).zipWithIndex) {
    test(s"aggregates, part ${i + 1}: ${calls.head.sql} … ${calls.last.sql}", each(3): _*) {
      val (node, rows) = window(calls.map(_.sql), "(ORDER BY id ROWS 1 PRECEDING)")
      // where the answer is beside the slots, they are no partials
      val inSlots = callsOf(node).distinct.filter(_.monoid.running.isEmpty)
      for (call <- inSlots) withClue(s"seed $seed, $call\n") {
        exercise(call.algorithm, call, node.child.output, rows)
        exerciseRuns(call, node.child.output, rows)
        if (call.algorithm != Algorithm.TwoStacksLiteAlgorithm && call.monoid.subtract.isEmpty)
          exercise(Algorithm.TwoStacksLiteAlgorithm, call, node.child.output, rows)
      }
    }
  }

  for {
    key <- WindowFrames.Keys
    direction <- Seq("ASC NULLS LAST", "DESC NULLS LAST", "ASC NULLS FIRST")
  } test(s"order keys: ${key.tied} $direction, bounds ${key.offset(1)}") {
    val frame = s"BETWEEN ${key.offset(2)} PRECEDING AND ${key.offset(1)} FOLLOWING"
    val (node, rows) =
      window(Seq("count(*)"), s"(PARTITION BY g ORDER BY ${key.tied} $direction RANGE $frame)")
    val whole = WindowProgram(
      callsOf(node),
      node.partitionSpec,
      node.orderSpec,
      node.child.output,
      "Europe/Berlin"
    )
    val view = whole.frames.head.keys.parts.head.get
    val ring = view.ring
    val Seq(lower, upper) = Seq(view.lower, view.upper).collect {
      case KeyBound.Shifted(shift, _) => shift
    }
    val program = whole.rings(ring).slots
    val kinds = new SlotKinds(program, Seq.empty[DataType])
    val random = new Random(seed)
    def slot(): Int = kinds.slots(random.nextInt(kinds.slots.length))
    kinds.slots.foreach(s => kinds.change("lift", s)(_.lift(s, rows(s % rows.length))))
    (1 to 40).foreach { _ =>
      val (a, b, c, d) = (slot(), slot(), slot(), slot())
      kinds.change("shift to the lower bound", b)(_.shift(lower, b, a))
      kinds.change("shift to the upper bound", c)(_.shift(upper, c, a))
      Seq((a, b), (b, c), (a, d)).foreach { case (x, y) =>
        val order = kinds.agree("compare")(columns => Integer.signum(columns.compare(x, y)))
        assert(kinds.agree("compare back")(c => -Integer.signum(c.compare(y, x))) == order)
      }
      val row = rows(random.nextInt(rows.length))
      kinds.change("lift", b)(_.lift(b, row))
    }
  }

  test("partition keys match rows of their partition and no others") {
    val keys = Seq("g", "sc", "d", "st", "bin", "bo", "ar")
    val (node, rows) =
      window(
        Seq("count(*)"),
        s"(PARTITION BY ${keys.mkString(", ")} ORDER BY id ROWS 1 PRECEDING)"
      )
    val program = WindowProgram(
      callsOf(node),
      node.partitionSpec,
      node.orderSpec,
      node.child.output,
      "UTC"
    ).key.get
    val kinds = new SlotKinds(program, Seq.empty[DataType])
    for (row <- rows.take(40)) {
      kinds.agree("lift")(_.lift(0, row))
      assert(kinds.agree("its own partition")(_.matches(0, row)) == Right(true))
      rows.take(40).foreach(other => kinds.agree("matches")(_.matches(0, other)))
    }
  }

  for (userType <- Seq(UserTypes.OfBinary, UserTypes.OfDecimal, UserTypes.OfLong))
    test(s"a user-defined type over ${userType.sqlType.sql} lies in slots as its SQL type does") {
      val in = AttributeReference("in", userType)()
      val Seq(left, right) = Seq.fill(2)(AttributeReference("cell", userType)())
      val last = Coalesce(Seq(right, left))
      val part = SlotProgram.Part(
        first = 0,
        identity = Seq(Literal(null, userType)),
        lift = Seq(in),
        combine = Seq(last),
        results = Seq((0, left))
      )
      val order = Seq(SortOrder(left, Ascending))
      val program = SlotProgram(Seq(in), Seq(left), Seq(right), Seq(part), keyOrder = order)
      val kinds = new SlotKinds(program, Seq(userType))
      val values = Seq("7", "42", null).map(userType.serialize)
      kinds.slots.foreach { s =>
        kinds.change("lift", s)(_.lift(s, InternalRow(values(s / 200 % 3))))
      }
      kinds.change("combine", 200)(_.combine(200, 0, 400))
      assert(kinds.agree("compare")(_.compare(0, 200)) == Right(0))
      assert(kinds.agree("lower")(kinds.result(_, 200)) == Right(Seq("7")))
    }

  test("a partial that exceeds its type's precision survives a page that goes to disk") {
    val large = "CAST(9e37 AS DECIMAL(38, 0))"
    val (node, rows) =
      window(Seq(s"sum(IF(id % 2 = 0, $large, -$large))"), "(ORDER BY id ROWS 1 PRECEDING)")
    val Seq(call) = callsOf(node)
    val part = Algorithm.TwoStacksLiteAlgorithm.part(call.monoid, first = 0, result = 0)
    val program = SlotProgram(node.child.output, call.monoid.left, call.monoid.right, Seq(part))
    val kinds = new SlotKinds(program, Seq(call.expression.dataType))
    val Seq(plus, minus, sum) = kinds.slots.take(3)
    kinds.change("lift", plus)(_.lift(plus, rows(0)))
    kinds.change("lift", minus)(_.lift(minus, rows(1)))
    kinds.agree("combine")(_.combine(sum, plus, plus))
    // so many other pages that the sum's leaves memory
    kinds.slots.drop(3).foreach(s => kinds.agree("identity")(_.identity(s)))
    kinds.agree("combine")(_.combine(sum, sum, minus))
    val answer = kinds.agree("lower")(kinds.result(_, sum))
    assert(answer == Right(Seq(new java.math.BigDecimal("9e37").setScale(0))), answer)
    assert(
      kinds.agree("operations")(_.page().operations) == Right(2L),
      "going to disk forgets none"
    )
  }
}

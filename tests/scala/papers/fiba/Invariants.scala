package io.sash.papers.fiba

/** The invariants of Fiba's scaladoc, checked on the nodes of a window. */
final class Invariants[A](window: Window[A]) {
  import window.{children, column, entries, operation, store, tree}

  private val minArity = store.minArity

  /** A node with its place in the tree. */
  private final class At(
      val node: Int,
      val level: Int,
      val onLeft: Boolean,
      val onRight: Boolean
  ) {
    def isRoot: Boolean = level == tree.height
    def onSpine: Boolean = onLeft || onRight

    def below: Seq[At] = {
      val last = children(node).size - 1
      children(node).zipWithIndex.map { case (child, i) =>
        new At(child, level - 1, onLeft && i == 0, onRight && i == last)
      }
    }

    def all: Seq[At] = this +: below.flatMap(_.all)
  }

  /** The broken invariants, if any. */
  def broken: Option[String] = {
    val all = new At(tree.root, tree.height, onLeft = true, onRight = true).all
    val wrong = structure(all) ++ times ++ all.flatMap(arity) ++ all.flatMap(spines) ++ sizes(all)
    // without a proper tree, faults of aggregates would only confuse
    (if (wrong.isEmpty) aggregates(all) else wrong).headOption
  }

  private def claim(holds: Boolean, message: => String): Option[String] =
    if (holds) None else Some(message)

  private def name(node: Int): String = s"node ${window.times(node).mkString("[", " ", "]")}"

  /** (I1) */
  private def structure(all: Seq[At]): Seq[String] =
    claim(all.map(_.node).distinct.size == all.size, "a node is in two places").toSeq ++
      all.flatMap(at => claim(store.level(at.node) == at.level, s"(I1) ${name(at.node)}"))

  /** (I2): all entries ascend in the order of the tree. */
  private def times: Option[String] = {
    val inOrder = entriesUnder(tree.root).map { case (node, i) => store.time(node, i) }
    claim(
      inOrder.zip(inOrder.drop(1)).forall { case (a, b) => a < b },
      s"(I2) ${inOrder.mkString(" ")}"
    )
  }

  private def entriesUnder(node: Int): Seq[(Int, Int)] = {
    val own = entries(node).map((node, _))
    if (store.isLeaf(node)) own
    else {
      val below = children(node).map(entriesUnder)
      below.head ++ own.zip(below.tail).flatMap { case (entry, younger) => entry +: younger }
    }
  }

  /** (I3) */
  private def arity(at: At): Option[String] = {
    val arity = store.arity(at.node) - (if (at.node == tree.left(0)) tree.head else 0)
    val spared = at.isRoot || at.onRight || at.onLeft && at.level == 0
    val least = if (!spared) minArity else if (tree.size > 0) 2 else 1
    claim(arity >= least && arity <= store.maxArity, s"(I3) ${name(at.node)} has arity $arity")
  }

  private def spines(at: At): Seq[String] =
    claim(at.onLeft == (tree.left(at.level) == at.node), s"left spine, ${name(at.node)}").toSeq ++
      claim(at.onRight == (tree.right(at.level) == at.node), s"right spine, ${name(at.node)}")

  /** (I5) */
  private def sizes(all: Seq[At]): Seq[String] =
    claim(tree.size == entriesUnder(tree.root).size, s"size ${tree.size}").toSeq ++
      all.flatMap(at =>
        at.below.zipWithIndex.filter(!_._1.onSpine).flatMap { case (child, i) =>
          val count = store.count(at.node, i)
          claim(count == entriesUnder(child.node).size, s"(I5) ${name(child.node)}")
        }
      )

  /** (I4), by the definitions of section 3.2; on the left spine, of all suffixes. */
  private def aggregates(all: Seq[At]): Seq[String] =
    if (tree.size == 0) Nil
    else
      all.flatMap { at =>
        val node = at.node
        if (at.isRoot) holds(node, tree.rightAggregate(at.level), inner(node))
        else
          (if (!at.onRight) Nil
           else holds(node, tree.rightAggregate(at.level), rightOf(at.level))) ++
            (if (!at.onLeft) Nil else stack(at)) ++
            at.below.zipWithIndex.filter(!_._1.onSpine).flatMap { case (child, i) =>
              holds(child.node, store.aggregate(node, i), up(child.node))
            }
      }

  private def holds(node: Int, slot: Int, expected: A): Seq[String] = {
    val actual = column(slot)
    claim(actual == expected, s"(I4) ${name(node)} holds $actual, not $expected").toSeq
  }

  private def stack(at: At): Seq[String] =
    if (at.level == 0) entries(at.node).flatMap { i =>
      holds(at.node, tree.leftAggregate(0) + i, suffix(at.node, i, 0))
    }
    else {
      entries(at.node).flatMap(i =>
        holds(at.node, tree.leftAggregate(at.level) + 2 * i, suffix(at.node, i, at.level))
      )
    }

  private def suffix(node: Int, from: Int, level: Int): A = {
    val below = children(node).map(up)
    val operands = (from until store.arity(node) - 1).flatMap { i =>
      value(node, i) +: below.slice(i + 1, i + 2)
    }
    operation.combine(fold(operands), aboveLeft(level))
  }

  private def fold(operands: Seq[A]): A =
    operands.foldLeft(operation.identity)(operation.combine)

  private def value(node: Int, i: Int): A = column(store.slot(node, i))

  /** The values, with the up aggregates of the children that satisfy `inside`. */
  private def fold(node: Int, inside: Int => Boolean): A = {
    val below = children(node).zipWithIndex.map { case (child, i) =>
      if (inside(i)) up(child) else operation.identity
    }
    val own = entries(node).map(value(node, _))
    fold(
      below.take(1) ++ own.zipAll(below.drop(1), operation.identity, operation.identity).flatMap {
        case (v, c) => Seq(v, c)
      }
    )
  }

  private def up(node: Int): A = fold(node, _ => true)

  private def inner(node: Int): A =
    fold(node, i => i > 0 && i < store.arity(node) - 1)

  private def left(level: Int): A =
    operation.combine(fold(tree.left(level), _ > 0), aboveLeft(level))

  private def aboveLeft(level: Int): A =
    if (level + 1 == tree.height) operation.identity else left(level + 1)

  private def rightOf(level: Int): A = {
    val above = if (level + 1 == tree.height) operation.identity else rightOf(level + 1)
    val node = tree.right(level)
    operation.combine(above, fold(node, _ < store.arity(node) - 1))
  }
}

package io.sash.spark.streams.checkpoint

import org.apache.spark.sql.types.DataType

/**
 * The parts of an earlier state in which the parts of the present one are found.
 *
 * @param trees one for each present tree
 * @param beginnings for each present beginning, the number of the earlier one
 * @param columns for each present column, the number of the earlier one
 * @param missing the present parts that the earlier state lacks, in words
 */
private[streams] final case class StateMapping(
    trees: Seq[TreeMapping],
    beginnings: Seq[Option[Int]],
    columns: Seq[Option[Int]],
    missing: Seq[String]
)

/**
 * @param slots for each aggregate, its earlier place
 * @param windows for each window and aggregate, the earlier window of the aggregate's tree that
 *   has all rows of this one
 */
private[streams] final case class TreeMapping(
    slots: Seq[Option[SlotPlace]],
    windows: Seq[Seq[Option[Int]]]
)

/**
 * @param tree the number of the tree
 * @param first the number of the first cell
 * @param cells the number of cells
 */
private[streams] final case class SlotPlace(tree: Int, first: Int, cells: Int)

private[streams] object StateMapping {
  def of(was: StateLayout, is: StateLayout): StateMapping = {
    val trees = is.trees.map(treeOf(was, _))
    val beginnings = is.header.beginnings.map(b => found(was.header.beginnings)(isOf(b, _)))
    // the last one is the bucket, for which the source may have a column of one name
    val columns = is.columns.init.map(c => found(was.columns.init)(isOf(c, _))) :+
      Some(was.columns.length - 1)
    StateMapping(
      trees,
      beginnings,
      columns,
      (missingIn(is.trees, trees) ++
        missing(is.header.beginnings.map(_.text), beginnings) ++
        missing(is.columns.map(c => s"the column ${c.text}"), columns)).distinct
    )
  }

  private def treeOf(was: StateLayout, is: TreeLayout): TreeMapping = {
    val slots = is.slots.map(placeOf(was, is, _))
    TreeMapping(
      slots,
      is.windows.map(w => slots.map(_.flatMap(place => windowIn(was.trees(place.tree), is, w))))
    )
  }

  /** Several earlier trees may have the aggregate: the one with the most of the windows. */
  private def placeOf(was: StateLayout, is: TreeLayout, slot: SlotLayout): Option[SlotPlace] =
    was.trees.zipWithIndex
      .filter { case (t, _) => t.elements == is.elements && t.slots.exists(isOf(slot, _)) }
      .maxByOption { case (t, _) => is.windows.count(windowIn(t, is, _).nonEmpty) }
      .map { case (t, number) =>
        val before = t.slots.takeWhile(!isOf(slot, _))
        SlotPlace(number, before.map(_.types.length).sum, slot.types.length)
      }

  /** Finds a window in the earlier tree that has all rows of this one. */
  private def windowIn(tree: TreeLayout, is: TreeLayout, window: WindowLayout): Option[Int] =
    found(tree.windows)(old => old.text == window.text && isKept(tree, old, is, window))
      .orElse(found(tree.windows)(old => old.includes(window) && isKept(tree, old, is, window)))

  /**
   * Whether the window can be made of the earlier one: of its elements, or of its aggregate if
   * elements leave all at once.
   */
  private def isKept(
      tree: TreeLayout,
      old: WindowLayout,
      is: TreeLayout,
      window: WindowLayout
  ): Boolean =
    if (TreeLayout.holds(is, window)) TreeLayout.holds(tree, old)
    else old.text == window.text && !TreeLayout.holds(tree, old)

  private def isOf(is: SlotLayout, was: SlotLayout): Boolean =
    is.text == was.text && is.recipe == was.recipe && areAlike(is.types, was.types)

  private def isOf(is: BeginningLayout, was: BeginningLayout): Boolean =
    is.text == was.text && (was.hasPosition || !is.hasPosition)

  private def isOf(is: ColumnLayout, was: ColumnLayout): Boolean =
    is.text == was.text && areAlike(Seq(is.dataType), Seq(was.dataType))

  /** Whether types are equal, but for whether their values may be NULL. */
  private def areAlike(some: Seq[String], others: Seq[String]): Boolean =
    some == others || some.map(sqlOf) == others.map(sqlOf)

  private def sqlOf(json: String): String = StateSignature.sqlOf(DataType.fromJson(json))

  private def found[A](in: Seq[A])(is: A => Boolean): Option[Int] =
    Some(in.indexWhere(is)).filter(_ >= 0)

  private def missingIn(trees: Seq[TreeLayout], mapped: Seq[TreeMapping]): Seq[String] = for {
    (tree, mapping) <- trees.zip(mapped)
    (window, sources) <- tree.windows.zip(mapping.windows)
    (slot, None) <- tree.slots.zip(sources)
  } yield s"${slot.text} over ${window.text}"

  private def missing(texts: Seq[String], mapped: Seq[Option[Int]]): Seq[String] =
    texts.zip(mapped).collect { case (text, None) => text }
}

package io.sash.spark.split

/** The consecutive stretches that each task answers. Tasks have about equally many. */
private[split] final case class StretchTasks(groups: IndexedSeq[Range]) {

  /** Gives all stretches to the first `tasks` tasks; the others have none. */
  def inFirst(tasks: Int): StretchTasks = {
    val stretches = groups.last.end
    val others = groups.drop(tasks).map(_ => stretches until stretches)
    StretchTasks(StretchTasks(stretches, tasks).groups ++ others)
  }

  /** The same stretches in fewer and fewer tasks: in all, in half of them, at last in one. */
  def everFewer: Iterator[StretchTasks] =
    Iterator.iterate(groups.length)(_ / 2).takeWhile(_ > 0).map(inFirst)
}

private[split] object StretchTasks {
  def apply(stretches: Int, tasks: Int): StretchTasks = {
    def first(task: Int) = (task.toLong * stretches / tasks).toInt
    StretchTasks((0 until tasks).map(t => first(t) until first(t + 1)))
  }
}

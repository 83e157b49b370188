package io.sash.spark.split

/** Which neighbouring stretches each task answers: about as many stretches as its neighbours. */
private[split] final case class StretchTasks(groups: IndexedSeq[Range]) {

  /** The first task answers all stretches, and the others have no rows. */
  def inFirst: StretchTasks = {
    val all = groups.head.start until groups.last.end
    StretchTasks(all +: groups.tail.map(_ => all.end until all.end))
  }
}

private[split] object StretchTasks {
  def apply(stretches: Int, tasks: Int): StretchTasks = {
    def first(task: Int) = (task.toLong * stretches / tasks).toInt
    StretchTasks((0 until tasks).map(t => first(t) until first(t + 1)))
  }
}

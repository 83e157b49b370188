import java.io.InputStream

import scala.collection.mutable

import org.objectweb.asm._
import sbt._

/**
 * All that the jar's bytecode links to of Spark, and of what Spark brings, by feature: the list
 * that io.sash.spark.features.status reads when the extension loads.
 *
 * A feature is the classes of ours that are reachable from its entry, but for those that other
 * features begin with. What a class of them names is a link: classes, methods and fields in code
 * and in handles, supertypes, and the types of all signatures.
 *
 * Lines, sorted: `c FEATURES KIND CLASS`, behind each of which its members stand:
 * `m|f FEATURES FLAGS NAME DESCRIPTOR`; and `e FEATURES CLASS` for each class of ours that
 * extends one of Spark's, whose abstract methods it has to have. FEATURES is a set of bits, in hex.
 */
object SparkLinks {

  /** The entry of what all features need. */
  private val base = "base" -> "io/sash/spark/SashExtensions"

  /** The entry of a feature is an object beside io.sash.spark.features.Feature. */
  private val entry = """io/sash/spark/features/(\w+)Feature\$""".r

  /** Entries that Spark finds by name, without the extension. */
  private val alsoBase = Seq("io/sash/spark/Explain")

  /** Where a feature begins that others name: they do without it, or stand down with it. */
  private val cuts: Map[String, Set[String]] = Map(
    "ordering" -> Set("io/sash/spark/ordering/OrderingExec")
  )

  /**
   * @param classes where ours are
   * @param classPath what they are compiled against
   */
  def text(classes: Seq[File], classPath: Seq[File]): String = {
    val ours = classes
      .flatMap(d => (d ** "*.class").get)
      .map { f =>
        val c = ClassLinks.read(IO.readBytes(f))
        c.name -> c
      }
      .toMap
    val theirs = new ClassPath(classPath)
    try new SparkLinks(ours, theirs).text
    finally theirs.close()
  }

  /** What neither changes from one Spark to the next, nor comes with it. */
  private def isStable(name: String): Boolean =
    Seq("java/", "javax/", "jdk/", "sun/", "scala/", "[").exists(name.startsWith)
}

private final class SparkLinks(ours: Map[String, ClassLinks], theirs: ClassPath) {
  import SparkLinks._

  private val kinds = mutable.Map.empty[String, mutable.Set[Char]]
  private val classBits = mutable.Map.empty[String, Int].withDefaultValue(0)
  private val memberBits = mutable.Map.empty[(String, String), Int].withDefaultValue(0)
  private val extendedBits = mutable.Map.empty[String, Int].withDefaultValue(0)

  /** The features by their entries, in the order of their bits. */
  private val features: Seq[(String, String)] =
    base +: ours.keys.toSeq.sorted.collect { case c @ entry(name) => name.toLowerCase -> c }

  def text: String = {
    features.zipWithIndex.foreach { case ((name, entry), i) =>
      val entries = if (i == 0) entry +: alsoBase else Seq(entry)
      reachable(name, entries).foreach(c => links(ours(c), 1 << i))
    }
    val head = features.map(_._1).mkString("features ", " ", "")
    val members = memberBits.toSeq.groupBy(_._1._1)
    val lines = classBits.toSeq.sorted.flatMap { case (name, bits) =>
      val kind = kinds(name).toSeq.sorted.mkString
      s"c ${bits.toHexString} $kind $name" +:
        members
          .getOrElse(name, Nil)
          .map { case ((_, member), b) =>
            val (sort, rest) = member.splitAt(1)
            s"$sort ${b.toHexString} $rest"
          }
          .sorted
    }
    val extended = extendedBits.toSeq.sorted.map { case (c, b) => s"e ${b.toHexString} $c" }
    (head +: (lines ++ extended)).mkString("", "\n", "\n")
  }

  private def reachable(feature: String, entries: Seq[String]): Set[String] = {
    val others = features.filterNot(_._1 == feature).map(_._2).toSet
    val outside = cuts.filterNot(_._1 == feature).values.flatten.toSet ++ others
    val found = mutable.LinkedHashSet(entries: _*)
    val queue = mutable.Queue(entries: _*)
    while (queue.nonEmpty) {
      ours(queue.dequeue()).classes
        .filter(c => ours.contains(c) && !outside.exists(o => c == o || c.startsWith(o + "$")))
        .foreach(c => if (found.add(c)) queue.enqueue(c))
    }
    found.toSet
  }

  private def links(from: ClassLinks, bit: Int): Unit = {
    from.classes.foreach(link(_, bit))
    from.instantiated.foreach(link(_, bit, 'n'))
    (from.superName +: from.interfaces).foreach(link(_, bit, 'x'))
    from.members.foreach(member(_, bit))
    if (!from.isAbstract && supers(from.name).exists(s => !ours.contains(s) && !isStable(s)))
      extendedBits(from.name) |= bit
  }

  private def link(name: String, bit: Int, how: Char*): Unit =
    if (!ours.contains(name) && !isStable(name)) {
      classBits(name) |= bit
      val its = kinds.getOrElseUpdate(name, mutable.Set.empty)
      its ++= how
      its += (if (theirs(name).isInterface) 'i' else 'c')
    }

  private def member(m: Member, bit: Int): Unit =
    for {
      owner <- external(m.owner, m)
      declared <- declaring(owner, m)
      if !isStable(declared)
    } {
      link(owner, bit)
      val access = theirs(declared).declared((m.name, m.descriptor))
      val isProtected = (access & Opcodes.ACC_PROTECTED) != 0
      val flags = (if (m.isStatic) "s" else "v") + (if (isProtected) "p" else "")
      val sort = if (m.isField) "f" else "m"
      memberBits((owner, s"$sort$flags ${m.name} ${m.descriptor}")) |= bit
    }

  /** The type by which a member is asked for, or that of which a class of ours inherits it. */
  private def external(owner: String, m: Member): Option[String] =
    if (isStable(owner)) None
    else
      ours.get(owner) match {
        case None                                                   => Some(owner)
        case Some(c) if c.declared.contains((m.name, m.descriptor)) => None
        case Some(c) =>
          (c.superName +: c.interfaces).flatMap { s =>
            if (ours.contains(s)) external(s, m)
            else if (isStable(s)) None
            else declaring(s, m).map(_ => s)
          }.headOption
      }

  private def declaring(owner: String, m: Member): Option[String] =
    (owner +: supers(owner)).find(all(_).declared.contains((m.name, m.descriptor)))

  private def supers(name: String): Seq[String] = {
    val c = all(name)
    val direct = Option(c.superName).toSeq ++ c.interfaces
    (direct ++ direct.flatMap(supers)).distinct
  }

  private def all(name: String): ClassLinks = ours.getOrElse(name, theirs(name))
}

private final case class Member(
    owner: String,
    name: String,
    descriptor: String,
    isField: Boolean,
    isStatic: Boolean
)

/** The classes of jars and of the JDK, as they are asked for. */
private final class ClassPath(files: Seq[File]) {
  private val loader =
    new java.net.URLClassLoader(
      files.map(_.toURI.toURL).toArray,
      ClassLoader.getPlatformClassLoader
    )
  private val read = mutable.Map.empty[String, ClassLinks]

  def apply(name: String): ClassLinks = read.getOrElseUpdate(
    name, {
      val in: InputStream = loader.getResourceAsStream(name + ".class")
      if (in == null) sys.error(s"$name is not on the class path")
      try ClassLinks.read(in.readAllBytes())
      finally in.close()
    }
  )

  def close(): Unit = loader.close()
}

/** A class, and all that it names. */
private final class ClassLinks(
    val name: String,
    access: Int,
    val superName: String,
    val interfaces: Seq[String]
) {
  val declared = mutable.Map.empty[(String, String), Int]
  val classes = mutable.LinkedHashSet.empty[String]
  val instantiated = mutable.LinkedHashSet.empty[String]
  val members = mutable.LinkedHashSet.empty[Member]

  def isInterface: Boolean = (access & Opcodes.ACC_INTERFACE) != 0
  def isAbstract: Boolean = (access & Opcodes.ACC_ABSTRACT) != 0

  def add(internalName: String): Unit =
    if (internalName != null) {
      if (internalName.startsWith("[")) addType(Type.getObjectType(internalName))
      else classes += internalName
    }

  def addType(t: Type): Unit = t.getSort match {
    case Type.ARRAY  => addType(t.getElementType)
    case Type.OBJECT => classes += t.getInternalName
    case Type.METHOD =>
      addType(t.getReturnType)
      t.getArgumentTypes.foreach(addType)
    case _ =>
  }
}

private object ClassLinks {
  private val Api = Opcodes.ASM9

  def read(bytes: Array[Byte]): ClassLinks = {
    val reader = new ClassReader(bytes)
    val links = new ClassLinks(
      reader.getClassName,
      reader.getAccess,
      reader.getSuperName,
      reader.getInterfaces.toSeq
    )
    (reader.getSuperName +: reader.getInterfaces.toSeq).foreach(links.add)
    reader.accept(new Visitor(links), ClassReader.SKIP_DEBUG)
    links
  }

  private final class Visitor(links: ClassLinks) extends ClassVisitor(Api) {
    override def visitField(
        access: Int,
        name: String,
        descriptor: String,
        signature: String,
        value: AnyRef
    ): FieldVisitor = {
      links.declared((name, descriptor)) = access
      links.addType(Type.getType(descriptor))
      null
    }

    override def visitMethod(
        access: Int,
        name: String,
        descriptor: String,
        signature: String,
        exceptions: Array[String]
    ): MethodVisitor = {
      links.declared((name, descriptor)) = access
      links.addType(Type.getMethodType(descriptor))
      new Code(links, name, descriptor)
    }
  }

  private final class Code(links: ClassLinks, method: String, descriptor: String)
      extends MethodVisitor(Api) {
    private val asked = mutable.LinkedHashSet.empty[Member]

    /**
     * Scala puts a method into a class for each that a trait of its has a body for, which does
     * nothing but call that. Another Spark may not have it in the trait, and then nobody calls it.
     */
    private def forwards: Boolean = asked.toSeq match {
      case Seq(m) =>
        m.isStatic && m.name == method + "$" && links.interfaces.nonEmpty &&
        m.descriptor == s"(L${m.owner};" + descriptor.drop(1)
      case _ => false
    }

    override def visitEnd(): Unit =
      if (forwards) links.declared -= ((method, descriptor))
      else links.members ++= asked

    override def visitTypeInsn(opcode: Int, name: String): Unit = {
      links.add(name)
      if (opcode == Opcodes.NEW) links.instantiated += name
    }

    override def visitFieldInsn(opcode: Int, owner: String, name: String, d: String): Unit = {
      val isStatic = opcode == Opcodes.GETSTATIC || opcode == Opcodes.PUTSTATIC
      member(owner, name, d, isField = true, isStatic)
      links.addType(Type.getType(d))
    }

    override def visitMethodInsn(
        opcode: Int,
        owner: String,
        name: String,
        d: String,
        isInterface: Boolean
    ): Unit = {
      member(owner, name, d, isField = false, opcode == Opcodes.INVOKESTATIC)
      links.addType(Type.getMethodType(d))
    }

    override def visitInvokeDynamicInsn(
        name: String,
        d: String,
        bootstrap: Handle,
        arguments: AnyRef*
    ): Unit = {
      links.addType(Type.getMethodType(d))
      constant(bootstrap)
      arguments.foreach(constant)
    }

    override def visitLdcInsn(value: AnyRef): Unit = constant(value)

    override def visitMultiANewArrayInsn(d: String, dimensions: Int): Unit =
      links.addType(Type.getType(d))

    override def visitTryCatchBlock(start: Label, end: Label, handler: Label, t: String): Unit =
      links.add(t)

    private def constant(value: AnyRef): Unit = value match {
      case t: Type => links.addType(t)
      case h: Handle =>
        val isField = h.getTag <= Opcodes.H_PUTSTATIC
        val isStatic =
          Set(Opcodes.H_GETSTATIC, Opcodes.H_PUTSTATIC, Opcodes.H_INVOKESTATIC)(h.getTag)
        member(h.getOwner, h.getName, h.getDesc, isField, isStatic)
        links.addType(if (isField) Type.getType(h.getDesc) else Type.getMethodType(h.getDesc))
      case d: ConstantDynamic =>
        constant(d.getBootstrapMethod)
        (0 until d.getBootstrapMethodArgumentCount).foreach(i =>
          constant(d.getBootstrapMethodArgument(i))
        )
      case _ =>
    }

    private def member(
        owner: String,
        name: String,
        d: String,
        isField: Boolean,
        isStatic: Boolean
    ): Unit = {
      links.add(owner)
      if (!owner.startsWith("["))
        asked += Member(owner, name, d, isField, isStatic)
    }
  }
}

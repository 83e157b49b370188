package io.sash.spark.features

import java.lang.reflect.{Constructor, Method, Modifier}

import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.codehaus.janino.SimpleCompiler

/**
 * A parser that runs something before each call of another parser.
 *
 * The class is generated, since the methods of the interface differ between versions of Spark. A
 * `java.lang.reflect.Proxy` has all of them, too, but wraps the exceptions that they do not
 * declare, such as the errors of SQL scripts.
 */
private[features] object WatchedParser {
  private val Interface = classOf[ParserInterface]
  private val Name = "WatchedParserOfThisSpark"

  def apply(parser: ParserInterface, before: Runnable): ParserInterface =
    generated.newInstance(parser, before).asInstanceOf[ParserInterface]

  // by Janino itself: Spark's CodeGenerator reads settings of the session, which is being made
  private lazy val generated: Constructor[_] = {
    val compiler = new SimpleCompiler()
    compiler.setParentClassLoader(getClass.getClassLoader)
    compiler.cook(source)
    compiler.getClassLoader.loadClass(Name).getConstructor(Interface, classOf[Runnable])
  }

  private def source: String = {
    val methods = Interface.getMethods.filterNot(m => Modifier.isStatic(m.getModifiers))
    s"""public final class $Name implements ${Interface.getName} {
       |  private final ${Interface.getName} parser;
       |  private final Runnable before;
       |  public $Name(${Interface.getName} parser, Runnable before) {
       |    this.parser = parser;
       |    this.before = before;
       |  }
       |${methods.map(delegate).mkString("\n")}
       |}
       |""".stripMargin
  }

  private def delegate(method: Method): String = {
    val types = method.getParameterTypes.map(_.getCanonicalName)
    val names = types.indices.map(i => s"argument$i")
    val parameters = types.zip(names).map { case (t, name) => s"$t $name" }.mkString(", ")
    val errors = method.getExceptionTypes.map(_.getCanonicalName).mkString(", ")
    val declared = if (errors.isEmpty) "" else s" throws $errors"
    val result = method.getReturnType.getCanonicalName
    s"""  public $result ${method.getName}($parameters)$declared {
       |    before.run();
       |    return parser.${method.getName}(${names.mkString(", ")});
       |  }""".stripMargin
  }
}

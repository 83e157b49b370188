/** What Spark's launcher passes to Java 17 (JavaModuleOptions); a forked test needs it too. */
object JavaModules {
  private val opened = Seq(
    "java.base/java.lang",
    "java.base/java.lang.invoke",
    "java.base/java.lang.reflect",
    "java.base/java.io",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.base/sun.nio.cs",
    "java.base/sun.security.action",
    "java.base/sun.util.calendar",
    "java.security.jgss/sun.security.krb5"
  )

  val options: Seq[String] =
    Seq("-XX:+IgnoreUnrecognizedVMOptions", "--add-modules=jdk.incubator.vector") ++
      opened.map(module => s"--add-opens=$module=ALL-UNNAMED") :+
      "-Dio.netty.tryReflectionSetAccessible=true"
}

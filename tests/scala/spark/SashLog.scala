package io.sash.spark

import scala.collection.mutable.ArrayBuffer

import org.apache.logging.log4j.{Level, LogManager}
import org.apache.logging.log4j.core.{LogEvent, Logger}
import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.Property

/** The log of one of Sash's classes. */
object SashLog {

  /** The messages that the logger `by` has logged meanwhile. */
  def logged(body: => Unit, by: String): Seq[String] = {
    val said = ArrayBuffer.empty[String]
    val appender = new AbstractAppender("said", null, null, true, Property.EMPTY_ARRAY) {
      override def append(event: LogEvent): Unit =
        said.synchronized(said += event.getMessage.getFormattedMessage)
    }
    appender.start()
    val logger = LogManager.getLogger(by).asInstanceOf[Logger]
    val level = logger.getLevel
    logger.addAppender(appender)
    logger.setLevel(Level.INFO)
    try body
    finally {
      logger.setLevel(level)
      logger.removeAppender(appender)
    }
    said.toSeq
  }
}

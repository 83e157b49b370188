package io.sash.spark.streams.checkpoint

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/** Reads and writes small text files in a checkpoint. */
private[streams] object TextFile {
  def read(path: Path, hadoop: Configuration): String = {
    val in = path.getFileSystem(hadoop).open(path)
    try new String(in.readAllBytes(), UTF_8)
    finally in.close()
  }

  def write(path: Path, text: String, hadoop: Configuration): Unit = {
    val out = path.getFileSystem(hadoop).create(path)
    try out.write(text.getBytes(UTF_8))
    finally out.close()
  }
}

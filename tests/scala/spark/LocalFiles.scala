package io.sash.spark

import java.net.URI

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{
  ChecksumFs,
  DelegateToFileSystem,
  FileStatus,
  LocalFileSystem,
  Path,
  RawLocalFileSystem
}
import org.apache.hadoop.fs.permission.FsPermission

/**
 * Local files whose permissions nobody asks for. Without its native library, Hadoop starts a
 * process (`chmod`, `readlink` or `ls`) for each file that it makes, renames or lists, a dozen of
 * them in each batch of a stream: a third of the time of these tests.
 */
final class LocalFiles extends LocalFileSystem(new RawLocalFiles)

/** The same, as Hadoop's newer interface. */
final class LocalFilesContext(uri: URI, conf: Configuration)
    extends ChecksumFs(new RawLocalFilesContext(uri, conf))

private[spark] final class RawLocalFiles extends RawLocalFileSystem {
  override def setPermission(path: Path, permission: FsPermission): Unit = ()

  override def getFileLinkStatus(path: Path): FileStatus = getFileStatus(path)

  override def getFileStatus(path: Path): FileStatus = {
    val s = super.getFileStatus(path)
    new FileStatus(
      s.getLen,
      s.isDirectory,
      s.getReplication.toInt,
      s.getBlockSize,
      s.getModificationTime,
      s.getPath
    )
  }
}

private[spark] final class RawLocalFilesContext(uri: URI, conf: Configuration)
    extends DelegateToFileSystem(uri, new RawLocalFiles, conf, "file", false) {
  override def getUriDefaultPort: Int = -1
  override def isValidName(name: String): Boolean = true
}

object LocalFiles {

  /** Settings of a SparkContext with these files. */
  val settings: Map[String, String] = Map(
    "spark.hadoop.fs.file.impl" -> classOf[LocalFiles].getName,
    "spark.hadoop.fs.AbstractFileSystem.file.impl" -> classOf[LocalFilesContext].getName
  )
}

"""Where the plugin's jar lies."""

from pathlib import Path

from sash._version import __version__

_JAR = Path(__file__).parent / "jars" / f"sash-spark_2.13-{__version__}.jar"


def jar_path() -> str:
    """The path of the jar that this package carries.

    Name it in ``spark-submit --jars``, in a cluster's ``spark.jars``, or to a Spark Connect
    server. In a session of your own ``sash.configure`` sees to it.

    Returns:
        An absolute path. One jar serves every Spark from 4.0 to 4.3.

    Raises:
        FileNotFoundError: the package was imported from its sources before a jar was built.

    Example:
        >>> import sash
        >>> sash.jar_path().endswith(f"sash-spark_2.13-{sash.__version__}.jar")
        True
    """
    if not _JAR.is_file():
        raise FileNotFoundError(
            f"{_JAR} is missing: build it with `make jar`, or install the package with pip"
        )
    return str(_JAR.resolve())

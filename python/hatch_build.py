"""Builds the jar with sbt and puts it into the package: hatchling's hooks, and a command.

    python hatch_build.py

sbt itself is fetched by jgo, so that Java 17 is all that a machine needs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

PACKAGE = Path(__file__).parent
REPOSITORY = PACKAGE.parent
JARS = PACKAGE / "sash" / "jars"
OLDEST_JAVA = 17


class JarHook(BuildHookInterface):  # type: ignore[type-arg]
    """Has the jar in the package before the files of a wheel are collected."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling for a wheel and for an editable installation."""
        bundle_jar()


class UrlsHook(MetadataHookInterface):
    """Has the addresses of the project in the metadata, where its page is known."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling before it writes metadata."""
        if page := home_page():
            metadata["urls"] = {
                "Homepage": page,
                "Documentation": f"{page}/blob/main/docs/index.md",
                "Changelog": f"{page}/blob/main/CHANGELOG.md",
                "Issues": f"{page}/issues",
            }


def home_page() -> str | None:
    """The project's page: SASH_URL, or where this clone came from, as in build.sbt."""
    if page := os.environ.get("SASH_URL"):
        return page
    git = ["git", "config", "--get", "remote.origin.url"]
    try:
        remote = subprocess.run(git, cwd=REPOSITORY, capture_output=True, text=True).stdout
    except OSError:
        return None
    address = r"(?:https://(?:[^/@]*@)?|git@)([^/:@]+)[/:](.+?)(?:\.git)?"
    match = re.fullmatch(address, remote.strip())
    return f"https://{match[1]}/{match[2]}" if match else None


def bundle_jar() -> Path:
    """Build the jar, unless it is newer than all it is made of, and return where it lies."""
    bundled = JARS / f"sash-spark_2.13-{version()}.jar"
    if not is_current(bundled):
        check_repository()
        check_java()
        sbt("spark/assembly")
        shutil.rmtree(JARS, ignore_errors=True)
        JARS.mkdir()
        shutil.copyfile(REPOSITORY / "target" / bundled.name, bundled)
    return bundled


def version() -> str:
    """The version that the wheel and the jar share."""
    return _search(r'__version__ = "([^"]+)"', PACKAGE / "sash" / "_version.py")


def is_current(jar: Path) -> bool:
    """Whether no source is younger than the jar."""
    if not jar.exists():
        return False
    built = jar.stat().st_mtime
    return all(source.stat().st_mtime <= built for source in sources())


def sources() -> Iterator[Path]:
    """All files that the jar is made of; the Makefile has the same list."""
    project = REPOSITORY / "project"
    yield REPOSITORY / "build.sbt"
    yield PACKAGE / "sash" / "_version.py"
    for pattern in ("*.sbt", "*.scala", "*.properties"):
        yield from project.glob(pattern)
    for layer in ("core", "spark"):
        yield from (p for p in (REPOSITORY / "scala" / layer).rglob("*") if p.is_file())


def check_repository() -> None:
    """The Scala sources lie beside this directory, in a clone and nowhere else."""
    if not (REPOSITORY / "build.sbt").exists():
        sys.exit(
            f"error: {REPOSITORY} holds no build.sbt. Sash's jar is built from a clone of the "
            "whole repository: run `pip install ./python` there, or install a wheel."
        )


def check_java() -> None:
    """Stop with a remedy where Java is missing or too old."""
    remedy = f"Install a JDK {OLDEST_JAVA} or newer and put it on PATH or into JAVA_HOME."
    try:
        found = subprocess.run([java(), "-version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(
            f"error: building Sash's jar needs Java, and `{java()}` fails: {error}. {remedy}"
        )
    match = re.search(r'version "(?:1\.)?(\d+)', found.stderr)
    if match is None or int(match.group(1)) < OLDEST_JAVA:
        first_line = (found.stderr.splitlines() or ["no version"])[0]
        sys.exit(f"error: building Sash's jar needs Java {OLDEST_JAVA}: {first_line}. {remedy}")


def java() -> str:
    """The Java that Spark would use."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", "java")) if home else "java"


def sbt(*tasks: str) -> None:
    """Run sbt on the repository, without a terminal, so that it never asks."""
    launcher = _search(r"sbt\.version=(\S+)", REPOSITORY / "project" / "build.properties")
    coordinates = f"org.scala-sbt:sbt-launch:{launcher}"
    # The build ends before the JVM's second compiler has paid for itself; without it the JVM
    # would reserve too little room for code.
    java_options = ["-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=512m", "--"]
    jgo = [sys.executable, "-m", "jgo", "--system-java", "run", coordinates]
    command = [*jgo, *java_options, *tasks]
    print(f"sbt {' '.join(tasks)} (a minute or two, the first time)", flush=True)
    status = subprocess.run(command, cwd=REPOSITORY, stdin=subprocess.DEVNULL).returncode
    if status != 0:
        sys.exit(f"error: `sbt {' '.join(tasks)}` failed with exit code {status}; see above")


def _search(pattern: str, file: Path) -> str:
    match = re.search(pattern, file.read_text(encoding="utf-8"))
    if match is None:
        sys.exit(f"error: {file} has no line like {pattern}")
    return match.group(1)


if __name__ == "__main__":
    print(bundle_jar())

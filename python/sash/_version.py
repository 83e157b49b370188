"""The version of Sash: build.sbt reads it for the jar, pyproject.toml for the wheel."""

__version__ = "0.1.0"

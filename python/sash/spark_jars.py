"""The places where a user may have named jars, so that ours joins them and replaces none.

Spark takes ``spark.jars`` from ``PYSPARK_SUBMIT_ARGS`` before the builder's, and the builder's
before the one in ``spark-defaults.conf``. It takes the first, and merges none.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

from sash.install import spark_home

_KEY = "spark.jars"
_SUBMIT_ARGS = "PYSPARK_SUBMIT_ARGS"
# the variable that PySpark takes for unset
_NO_SUBMIT_ARGS = "pyspark-shell"
# an option with its value, of those that are read here
_JOINED = re.compile(r"(--(?:jars|conf|properties-file))=(.+)", re.DOTALL)


def with_jar(jar: str, options: Mapping[str, object]) -> list[str]:
    """All jars of the session to come, ``jar`` the last; each is named once.

    Where ``PYSPARK_SUBMIT_ARGS`` names jars, it is changed in this process, since the driver's
    class path is made of those and no others.
    """
    arguments = _arguments("")
    named = _named_by(arguments)
    configured = str(options[_KEY]) if _KEY in options else _default_jars(arguments)
    jars = _distinct([*named, *configured.split(","), jar])
    if named:
        os.environ[_SUBMIT_ARGS] = shlex.join(_naming(arguments, jars))
    return jars


def submit_with(jar: str) -> None:
    """Have ``PYSPARK_SUBMIT_ARGS`` name all jars of the session to come, ``jar`` the last."""
    arguments = _arguments(_NO_SUBMIT_ARGS)
    jars = _distinct([*_named_by(arguments), *_default_jars(arguments).split(","), jar])
    os.environ[_SUBMIT_ARGS] = shlex.join(_naming(arguments, jars))


def _arguments(default: str) -> list[str]:
    """The command line, in which each option and its value are two words, as Spark reads it."""
    words = shlex.split(os.environ.get(_SUBMIT_ARGS, default))
    parts = (_JOINED.fullmatch(word) for word in words)
    return [
        of
        for word, pair in zip(words, parts, strict=True)
        for of in ((word,) if pair is None else pair.groups())
    ]


def _distinct(jars: Iterable[str]) -> list[str]:
    stripped = (jar.strip() for jar in jars)
    return list(dict.fromkeys(jar for jar in stripped if jar))


def _named_by(arguments: list[str]) -> list[str]:
    """The jars in ``--jars`` and ``--conf spark.jars=`` of a command line."""
    pairs = pairwise(arguments)
    lists = [jars for pair in pairs if (jars := _jars_of(*pair)) is not None]
    return _distinct(",".join(lists).split(","))


def _jars_of(option: str, value: str) -> str | None:
    if option == "--jars":
        return value
    if option in ("--conf", "-c") and value.startswith(f"{_KEY}="):
        return value.removeprefix(f"{_KEY}=")
    return None


def _naming(arguments: list[str], jars: list[str]) -> list[str]:
    """The command line with ``jars`` in place of the jars that it names."""
    rest: list[str] = []
    position = 0
    while position < len(arguments):
        names_jars = _jars_of(arguments[position], "".join(arguments[position + 1 :][:1]))
        if names_jars is None:
            rest.append(arguments[position])
        position += 1 if names_jars is None else 2
    return ["--jars", ",".join(jars), *rest]


def _default_jars(arguments: list[str]) -> str:
    """The ``spark.jars`` of ``spark-defaults.conf``, or of the file given instead of it."""
    file = _properties_file(arguments)
    if not file.is_file():
        return ""
    properties = file.read_text(encoding="utf-8")
    found = re.findall(rf"^\s*{re.escape(_KEY)}(?:\s*[=:]\s*|\s+)(.*?)\s*$", properties, re.M)
    return str(found[-1]) if found else ""


def _properties_file(arguments: list[str]) -> Path:
    if "--properties-file" in arguments[:-1]:
        return Path(arguments[arguments.index("--properties-file") + 1])
    directory = os.environ.get("SPARK_CONF_DIR", "")
    return (Path(directory) if directory else spark_home() / "conf") / "spark-defaults.conf"

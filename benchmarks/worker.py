"""The process of one engine: it loads files and runs queries as standard input asks for.

    python worker.py ENGINE CORES MEMORY

Every line in and out is a JSON object; the first line out tells the engine's versions.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import engines
from asof_cells import AsOfQuery
from cells import Query
from few_cells import FewQuery
from label_cells import LabelQuery


def main() -> None:
    """Serve until the input ends."""
    name, cores, memory = sys.argv[1:]
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries and the JVM print must not mix with the replies

    def reply(message: dict[str, Any]) -> None:
        replies.write(json.dumps(message) + "\n")
        replies.flush()

    engine = engines.start(name, int(cores), memory)
    reply({"versions": engine.version()})
    for line in sys.stdin:
        seconds = _answer(engine, json.loads(line))
        reply({"seconds": seconds, "counts": getattr(engine, "counts", {})})


def _answer(engine: engines.Engine, request: dict[str, Any]) -> float:
    """The seconds of what is asked for, without those of a check."""
    if "load" in request:
        return _seconds(lambda: engine.load(Path(request["load"])))
    query = _query(request["query"])
    if request["check"]:
        engine.check(query)
    return _seconds(lambda: engine.run(query))


def _query(asked: dict[str, Any]) -> Query | LabelQuery | AsOfQuery | FewQuery:
    """The query of these fields."""
    if "asks" in asked:
        return FewQuery(**asked)
    if "form" in asked:
        return AsOfQuery(**asked)
    return LabelQuery(**asked) if "spans" in asked else Query(**asked)


def _seconds(act: Callable[[], None]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()

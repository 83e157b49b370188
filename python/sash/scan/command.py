"""The command ``python -m sash scan``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from sash.scan.findings import findings
from sash.scan.logs import logs
from sash.scan.page import page
from sash.scan.queries import application
from sash.scan.report import text

HELP = "say what Sash would do to the queries of Spark's event logs"
DESCRIPTION = (
    "Reads Spark's event logs (spark.eventLog.enabled), and says for each window, hop window and "
    "aggregate over a range: who would run it, Sash or Spark, why, its rows and seconds, and a "
    "range for the gain. It starts no Spark, and nothing leaves this machine."
)


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to those of ``python -m sash``."""
    parser = commands.add_parser("scan", help=HELP, description=DESCRIPTION)
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="logs, or folders with logs"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="write a page with a chart, too"
    )


def scan(arguments: argparse.Namespace) -> str:
    """Run the command, and return what it prints.

    Raises:
        Unreadable: if a path does not exist, or has no log.
    """
    faults: list[str] = []
    found = []
    of = logs(arguments.paths)
    bar = Progress(sum(log.size for log in of))
    for log in of:
        found += findings(application(log, bar.advance, faults), faults)
    bar.close()
    found.sort(key=lambda finding: -finding.seconds)
    if arguments.html:
        arguments.html.write_text(page(found, faults, len(of)), encoding="utf-8")
    if arguments.json:
        shown = {"found": [finding.as_json() for finding in found], "not read": faults}
        return json.dumps(shown, indent=1, ensure_ascii=False)
    return text(found, faults, len(of))


class Progress:
    """A bar of the bytes read, where a person looks at it."""

    def __init__(self, total: int) -> None:
        self._total, self._done, self._shown = max(total, 1), 0, -1
        self._is_seen = sys.stderr.isatty()

    def advance(self, count: int) -> None:
        """Count bytes as read."""
        self._done += count
        percent = min(100, 100 * self._done // self._total)
        if self._is_seen and percent != self._shown:
            self._shown = percent
            bar = "█" * (percent * 30 // 100)
            print(f"\r{bar:░<30} {percent:3} %", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Remove the bar."""
        if self._is_seen:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

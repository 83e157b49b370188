"""The commands ``python -m sash jar|install|uninstall|scan``."""

from __future__ import annotations

import argparse
import sys

from sash._version import __version__
from sash.jar import jar_path
from sash.scan.command import add, scan


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 when it succeeded, 1 when it could not."""
    parsed = _parser().parse_args(arguments)
    command = parsed.command
    try:
        print(scan(parsed) if command == "scan" else _COMMANDS[command]())
    except ModuleNotFoundError:
        print(f"sash: {command} failed: {_NO_PYSPARK}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"sash: {command} failed: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m sash", description="Sash's jar for Spark, and a look before it."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("jar", help="print the jar's path, for spark-submit --jars")
    commands.add_parser("install", help="copy the jar into the PySpark installation")
    commands.add_parser("uninstall", help="remove the jar from the PySpark installation")
    add(commands)
    return parser


_NO_PYSPARK = (
    "this Python has no PySpark. Run the command by the Python that has it, or start Spark with "
    "`--jars $(python -m sash jar)`"
)


# only the commands that need PySpark import it


def _install() -> str:
    from sash.install import install

    return (
        f"installed {install()}; sessions that start from now on have Sash. "
        "`python -m sash uninstall` removes it"
    )


def _uninstall() -> str:
    from sash.install import jars_directory, uninstall

    removed = uninstall()
    if not removed:
        return f"no jar of Sash in {jars_directory()}"
    return "\n".join(f"removed {jar}" for jar in removed)


_COMMANDS = {"jar": jar_path, "install": _install, "uninstall": _uninstall}

if __name__ == "__main__":
    sys.exit(main())

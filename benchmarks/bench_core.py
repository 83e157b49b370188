"""The core's algorithms by JMH, beside the authors' C++ on the same machine, in turns.

    python benchmarks/bench_core.py --cpp DIRECTORY    # everything: hours
    python benchmarks/bench_core.py --quick            # a look, in minutes

DIRECTORY is a checkout of https://github.com/IBM/sliding-window-aggregators, whose programs are
compiled here by g++; without one, only ours run, and the report says so. Writes core.json,
core.md and a chart per figure to docs/benchmarks. ``--resume`` goes on where a run was stopped;
``--report`` only writes tables and charts anew.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import core_report
import machine
from core_figures import FIGURES, STREAM, Cell
from core_results import Point, Store
from progress import Progress

ROOT = Path(__file__).parent.parent
OUT = ROOT / "docs" / "benchmarks"
SBT = [
    "run",
    "org.scala-sbt:sbt-launch:"
    + (ROOT / "project/build.properties").read_text().split("=")[1].strip(),
]
OPTIONS = ["-Xmx6g", "-XX:+UseParallelGC"]


def main() -> None:
    """Measure what the flags select, and report."""
    options = _options()
    about = machine.about()
    if options.report:
        about["commits"] = []  # nothing is measured at this one
    store = Store(options.out / "core.json", about, options.resume or options.report)
    if not options.report:
        ours = Ours()
        theirs = Theirs(options.cpp) if options.cpp else None
        store.about["versions"].update(ours.versions() | (theirs.versions() if theirs else {}))
        _run(_wanted(options), store, ours, theirs, options.runs)
    core_report.write(store, options.out)


def _wanted(options: argparse.Namespace) -> list[Cell]:
    cells = [cell for figure in FIGURES for cell in figure.cells()]
    if options.quick:
        cells = [cell for cell in cells if cell.x in (1 << 10, 1 << 20)]
    return [cell for cell in cells if re.search(options.cells, cell.id)]


def _run(cells: list[Cell], store: Store, ours: Ours, theirs: Theirs | None, runs: int) -> None:
    progress = Progress(len(cells))
    for cell in cells:
        point = Point(cell.figure.name, cell.operation, cell.series.label, cell.x)
        if point not in store.results:
            times: dict[str, list[float]] = {"ours": [], "theirs": []}
            for _ in range(runs):
                times["ours"].append(ours.run(cell))
                if theirs and cell.figure.theirs and cell.series.theirs:
                    times["theirs"].append(theirs.run(cell))
            store.add(point, times)
        found = {side: store.median(point, side) for side in ("ours", "theirs")}
        shown = ", ".join(f"{side} {ns:.1f}" for side, ns in found.items() if ns)
        progress.advance(1, f"{point}: {shown}")


class Ours:
    """JMH, a process for each run."""

    def __init__(self) -> None:
        jgo = Path(sys.executable).parent / "jgo"
        command = [
            str(jgo),
            "--system-java",
            *SBT,
            "bench/Jmh/compile",
            "export bench/Jmh/fullClasspath",
        ]
        print("Compiling the benchmarks …", flush=True)
        done = subprocess.run(
            command,
            cwd=ROOT,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode != 0:
            raise SystemExit(done.stdout[-4000:] + done.stderr[-2000:])
        self._class_path = [line for line in done.stdout.splitlines() if ".jar" in line][-1]

    def versions(self) -> dict[str, str]:
        """Java's and JMH's."""
        java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True)
        jmh = re.search(r"jmh-core-([\d.]+)\.jar", self._class_path)
        return {"Java": java.stderr.split('"')[1], "JMH": jmh[1] if jmh else "?"}

    def run(self, cell: Cell) -> float:
        """Nanoseconds of a slide."""
        parameters = {
            "algorithm": cell.series.algorithm,
            "operation": cell.operation,
            cell.figure.axis: str(cell.x),
            **cell.figure.parameters,
        }
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            command = ["java", *OPTIONS, "-cp", self._class_path, "org.openjdk.jmh.Main"]
            command += [
                f"io.sash.bench.{cell.figure.benchmark}$",
                "-f",
                "1",
                "-rf",
                "json",
                "-rff",
                file.name,
            ]
            for name, value in parameters.items():
                command += ["-p", f"{name}={value}"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise SystemExit(done.stdout[-4000:] + done.stderr[-2000:])
            (found,) = json.load(file)
        score: float = found["primaryMetric"]["score"]
        return score / cell.x if cell.figure.per_x else score


class Theirs:
    """The authors' programs, compiled as their Makefile does, for this machine."""

    def __init__(self, directory: Path) -> None:
        self._source = directory / "cpp" / "src"
        self._built = ROOT / "target" / "cpp"
        self._commit = subprocess.run(
            ["git", "rev-parse", "--short=10", "HEAD"],
            cwd=directory,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        self._built.mkdir(parents=True, exist_ok=True)

    def _program(self, name: str) -> Path:
        """A program of theirs, compiled when it is first asked for, which takes minutes."""
        program = self._built / f"{name}-{self._commit}"
        if not program.exists():
            print(f"Compiling the authors' {name} …", flush=True)
            command = ["g++", "-std=gnu++17", "-O3", "-march=native", "-DNDEBUG", "-w"]
            command += ["-DHAS_UNCAUGHT_EXCEPTIONS=1", str(self._source / f"{name}.cc")]
            subprocess.run([*command, "-o", str(program)], check=True)
        return program

    def versions(self) -> dict[str, str]:
        """The compiler's, and the authors' commit."""
        compiler = subprocess.run(
            ["g++", "-dumpfullversion"], capture_output=True, text=True, check=True
        )
        return {"g++": compiler.stdout.strip(), "the authors' commit": self._commit}

    def run(self, cell: Cell) -> float:
        """Nanoseconds of a slide."""
        slides = STREAM // 20 if cell.operation == "bloom" else STREAM
        first = cell.x if cell.figure.filled is None else cell.figure.filled
        program, *arguments = cell.figure.theirs or ()
        filled = [
            argument.format(
                algorithm=cell.series.theirs,
                operation=cell.operation,
                x=cell.x,
                iterations=slides + first,
            )
            for argument in arguments
        ]
        command = [str(self._program(program)), *filled]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found = re.search(r"core runtime: ([\d.e-]+)", done.stdout)
        if not found:
            raise SystemExit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
        return float(found[1]) / slides * 1e9


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--cpp", type=Path, help="a checkout of the authors' C++")
    add("--runs", type=int, default=3, help="of each side, in turns; the median is reported")
    add("--cells", default="", help="regex on figure/operation/algorithm/x")
    add("--quick", action="store_true", help="n = 1,024 and 1,048,576 only")
    add("--resume", action="store_true", help="keep what core.json has, measure the rest")
    add("--report", action="store_true", help="measure nothing")
    add("--out", type=Path, default=OUT)
    return parser.parse_args()


if __name__ == "__main__":
    main()

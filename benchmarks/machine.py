"""What a figure must be read with: the machine, the commit, the date."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any


def about(**versions: str) -> dict[str, Any]:
    """The circumstances of a run; versions of engines that start later are added then."""
    return {
        "date": date.today().isoformat(),
        "machine": {"cpu": _cpu(), "cores": os.cpu_count(), "memory_gb": _memory_gb()},
        "versions": {"Python": platform.python_version(), **versions},
        "commits": [_commit()],
    }


def measured(runs: int) -> str:
    """Which of a cell's runs a page shows."""
    if runs == 1:
        return "one run after one warm-up"
    return f"the best of {runs} runs after one warm-up, of fewer if they are slow"


def sentence(about: dict[str, Any]) -> str:
    """The same in a sentence."""
    machine = about["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    changed = " with uncommitted changes"
    commits = ", ".join(commit.replace("-dirty", changed) for commit in about["commits"])
    return (
        f"{about['date']}, {machine['cpu']}, {machine['cores']} cores, "
        f"{machine['memory_gb']} GB. {versions}. Commit {commits}."
    )


def time_stamps_per_ns() -> float:
    """The rate of the processor's time stamp counter, which is its nominal one."""
    nominal = re.search(r"@ ([\d.]+)GHz", _cpu())
    return float(nominal[1] if nominal else _cpuinfo("cpu MHz", "1000")) / (
        1 if nominal else 1000
    )


def cpu_seconds(spark: Any) -> float:
    """Seconds of all threads of a session's JVM so far, from Linux's /proc."""
    fields = Path(f"/proc/{jvm(spark)}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def jvm(spark: Any) -> int:
    """The number of a session's JVM, as a process."""
    return int(spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid())


def status(process: int, name: str) -> float:
    """What Linux's /proc says of a process: kilobytes, or a count."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return float(next(line for line in lines if line.startswith(name + ":")).split()[1])


def _cpu() -> str:
    return _cpuinfo("model name", platform.processor() or platform.machine())


def _cpuinfo(name: str, otherwise: str) -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith(name):
                return line.split(":")[1].strip()
    return otherwise


def _memory_gb() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)


def _commit() -> str:
    """The commit. Changes of the pages that benchmarks write are none."""
    name = _git("describe", "--always", "--abbrev=10")
    changed = _git("status", "--porcelain", "--", ":/", ":(exclude,top)docs/benchmarks")
    return name + ("-dirty" if changed else "") or "not committed"


def _git(*arguments: str) -> str:
    here = Path(__file__).parent
    done = subprocess.run(
        ["git", *arguments], cwd=here, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


@contextmanager
def workers_memory() -> Iterator[dict[int, list[float]]]:
    """The resident megabytes of each worker of Python, sampled."""
    samples: dict[int, list[float]] = {}
    ended = threading.Event()

    def sample() -> None:
        page = os.sysconf("SC_PAGE_SIZE") / 2**20
        while not ended.wait(0.1):
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    command = (process / "cmdline").read_bytes()
                    if b"pyspark.daemon" not in command or not _is_ours(process):
                        continue
                    resident = int((process / "statm").read_text().split()[1]) * page
                except (OSError, IndexError, ValueError):
                    continue
                samples.setdefault(int(process.name), []).append(resident)

    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    try:
        yield samples
    finally:
        ended.set()
        thread.join()


def _is_ours(process: Path) -> bool:
    """Whether a process was started by this one, or by one of those."""
    pid = int(process.name)
    while pid > 1:
        if pid == os.getpid():
            return True
        pid = int((Path("/proc") / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()[1])
    return False

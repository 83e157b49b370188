"""Mutation tests: which faults would the suites notice?

    make mutants                        # all of the list: under two hours on two cores
    make mutants ONLY="daba fiba-top"   # those whose names hold one of these
    make mutants SAMPLE=40              # so many of them at random; SEED=… repeats a sample
    python tests/mutants/mutants.py --check

Changes a copy of the tree below target/, one mutant of the list (the Markdown beside this file)
at a time, runs the suites that are to notice, and says which mutants live: each of them is a
fault that no test sees. ``--check`` only looks whether the list still fits the sources.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import mutant_list
from mutant_list import ROOT, Mutant
from progress import Progress
from sbt_server import Sbt

COPY = ROOT / "target" / "mutants" / "tree"
LOG = ROOT / "target" / "mutants" / "sbt.log"
KILLED, LIVES, BROKEN = "killed", "LIVES", "does not compile"


def main() -> None:
    """Check the list, then run what was selected of it."""
    options = _options()
    mutants = mutant_list.read()
    faults = mutant_list.faults(mutants)
    if faults:
        sys.exit("\n".join(f"error: {fault}" for fault in faults))
    if options.check:
        return
    chosen = [m for m in mutants if any(word in m.name for word in options.only or [""])]
    if not chosen:
        sys.exit(f"error: no mutant of {len(mutants)} is named so")
    if options.sample < len(chosen):
        chosen = _sample(chosen, options)
    # one project after another: what a mutant of the kernel changes, the others compile again
    chosen.sort(key=lambda mutant: mutant.project)
    sys.exit(_run(chosen, options))


def _sample(mutants: list[Mutant], options: argparse.Namespace) -> list[Mutant]:
    """So many of them, in their order, which keeps compiled what neighbours share."""
    print(f"{options.sample} of {len(mutants)} mutants, SEED={options.seed}")
    drawn = random.Random(options.seed).sample(range(len(mutants)), options.sample)  # noqa: S311
    return [mutants[i] for i in sorted(drawn)]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("only", nargs="*", help="parts of the names of mutants; all by default")
    parser.add_argument("--sample", type=int, default=sys.maxsize, help="how many, at random")
    seed = random.SystemRandom().randrange(1, 10**6)
    parser.add_argument("--seed", type=int, default=seed, help="of the sample")
    parser.add_argument("--check", action="store_true", help="only compare list and sources")
    parser.add_argument("--sbt", default="sbt", help="the command that starts sbt")
    parser.add_argument("--seconds", type=float, default=120, help="after which a suite hangs")
    return parser.parse_args()


def _run(mutants: list[Mutant], options: argparse.Namespace) -> int:
    _copy_tree()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # and sbt with it
    sbt = Sbt(options.sbt, COPY, LOG)
    results: list[tuple[Mutant, str, str]] = []
    try:
        suites = sorted({m.suite(named) for m in mutants for named in m.suites})
        for project in sorted({project for project, _ in suites}):
            names = [name for of, name in suites if of == project]
            if not sbt.run(_test(project, *names), seconds=3600):
                sys.exit(f"error: suites fail without a mutant, see {LOG}")
        progress = Progress(len(mutants))
        for mutant in mutants:
            verdict, by = _verdict(sbt, mutant, options.seconds)
            results.append((mutant, verdict, by))
            progress.advance(1, f"{mutant.name} {verdict}")
    finally:
        sbt.stop()
    return _report(results)


def _verdict(sbt: Sbt, mutant: Mutant, seconds: float) -> tuple[str, str]:
    """What becomes of a mutant, and by which suite: the first that fails is enough."""
    with mutant.applied(COPY):
        if not sbt.run(f"{mutant.project}/Test/compile", seconds=600):
            return BROKEN, ""
        for suite in mutant.suites:
            passed = sbt.run(_test(*mutant.suite(suite)), seconds)
            if not passed:
                return KILLED, suite if passed is False else f"{suite} (hangs)"
    return LIVES, ""


def _test(project: str, *suites: str) -> str:
    return f"{project}/testOnly " + " ".join(f"io.sash.{project}.{suite}" for suite in suites)


def _copy_tree() -> None:
    """The working tree, without what is ignored; what is the same stays, and stays compiled."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    output = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout
    files = {Path(name) for name in output.decode().split("\0") if name}
    files = {file for file in files if (ROOT / file).is_file()}
    for part in ("scala", "tests"):
        for old in (COPY / part).rglob("*.scala"):
            if old.relative_to(COPY) not in files:
                old.unlink()
    for file in files:
        copy = COPY / file
        if not copy.exists() or copy.read_bytes() != (ROOT / file).read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / file, copy)
    # what a mutant leaves unused is no error
    (COPY / "mutants.sbt").write_text(
        'ThisBuild / scalacOptions -= "-Werror"\n', encoding="utf-8"
    )


def _report(results: list[tuple[Mutant, str, str]]) -> int:
    width = max(len(mutant.name) for mutant, _, _ in results)
    print()
    for mutant, verdict, by in results:
        print(f"{mutant.name:{width}}  {verdict:16}  {by}")
    wrong = [mutant for mutant, verdict, _ in results if verdict != KILLED]
    print(f"\n{len(results)} mutants, {len(results) - len(wrong)} killed")
    for mutant in wrong:
        print(f"{mutant.name} ({mutant.path}): {mutant.claim}")
    return 1 if wrong else 0


if __name__ == "__main__":
    main()

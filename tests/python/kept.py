"""Checkpoints that a version of Sash has left, kept for the versions after it.

    .venv/bin/python tests/python/kept.py

Writes tests/python/kept/VERSION.zip: of each query of QUERIES the checkpoint, and the numbers of
the rows that it has answered, after the first FILES files of `rows()`.
"""

from __future__ import annotations

import json
import random
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import sash
from restarts import LAST, Query, Restarts, Row, drawn
from streaming import session

FOLDER = Path(__file__).parent / "kept"
FILES = 4
PLACE = b"/the/place/of/the/checkpoint"
"""In the metadata of an operator Spark names the path of its state's schema."""
OVER = "OVER (PARTITION BY k, s ORDER BY ts"
NINE = "INTERVAL 9 SECONDS"


def over(rows: DataFrame) -> DataFrame:
    """Frames whose state is elements, partials, values, pending rows or a number."""
    return rows.selectExpr(
        "id",
        "ts",
        f"sum(x) {OVER} RANGE INTERVAL 20 SECONDS PRECEDING) AS total",
        f"median(x) {OVER} ROWS 7 PRECEDING) AS middle",
        f"max(x) {OVER} RANGE BETWEEN {NINE} PRECEDING AND {NINE} FOLLOWING) AS around",
        f"collect_set(x) {OVER} RANGE {NINE} PRECEDING) AS found",
        f"sum(x) {OVER}) AS running",
        f"lag(x, 2) {OVER}) AS before",
        f"row_number() {OVER}) AS number",
    )


def labels(rows: DataFrame) -> DataFrame:
    """Features of every third row, of the other rows of its key."""
    events = rows.where("id % 3 <> 0").select(F.col("id"), "ts", "x", "k")
    answers = sash.window_join(
        rows.where("id % 3 = 0").select("id", "ts", "k"),
        events,
        on=["k"],
        by="ts",
        total=(F.sum("x"), "20 seconds"),
        found=(F.count_distinct("x"), "30 seconds"),
        ever=(F.sum("id"), None),
    )
    return answers.select("id", "ts", "total", "found", "ever")


def hops(rows: DataFrame) -> DataFrame:
    """Hop windows, of panes of sums and of values."""
    of = rows.groupBy("k", F.window("ts", "20 seconds", "5 seconds"))
    answers = of.agg(F.sum("x").alias("total"), F.median("x").alias("middle"))
    return answers.selectExpr(
        "concat_ws(' ', k, window.start) AS id", "window.end", "* EXCEPT (k)"
    )


QUERIES: dict[str, Query] = {"over": over, "labels": labels, "hops": hops}
Answers = list[tuple[Any, ...]]


def unpack(version: str, name: str, folder: Path) -> list[str]:
    """Put a kept checkpoint into the folder; returns the numbers of the answers before it."""
    begin, place = f"{name}/checkpoint/", folder / "checkpoint"
    with zipfile.ZipFile(FOLDER / f"{version}.zip") as kept:
        for file in kept.namelist():
            if file.startswith(begin):
                to = place / file.removeprefix(begin)
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(kept.read(file).replace(PLACE, str(place).encode()))
        answered: list[str] = json.loads(kept.read(f"{name}/answered.json"))
    return answered


def rows() -> list[list[Row]]:
    """Twice as many files as the kept checkpoints have seen, and a last row behind all."""
    files = drawn(random.Random(2026), 2 * FILES)  # noqa: S311
    return [*files, [(-1, 0, "a", LAST, 1)]]


def answer(spark: SparkSession, folder: Path, query: Query, files: list[list[Row]]) -> Answers:
    """The answers of a stream from its checkpoint in the folder, if there is one, over files."""
    stream = Restarts(spark, folder, {})
    for file in files:
        stream.come(file)
    return stream.run(query, [], fails=False)


def main() -> None:
    """Write the checkpoints of this version."""
    spark = session()
    FOLDER.mkdir(exist_ok=True)
    out = FOLDER / f"{sash.__version__}.zip"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as kept:
        for name, query in QUERIES.items():
            with tempfile.TemporaryDirectory(prefix="kept-") as scratch:
                answers = answer(spark, Path(scratch), query, rows()[:FILES])
                kept.writestr(
                    f"{name}/answered.json", json.dumps([str(row[0]) for row in answers])
                )
                place = str(Path(scratch, "checkpoint")).encode()
                for file in sorted(Path(scratch, "checkpoint").rglob("*")):
                    if file.is_file() and file.suffix != ".crc":
                        data = file.read_bytes().replace(place, PLACE)
                        kept.writestr(f"{name}/{file.relative_to(scratch)}", data)
    spark.stop()
    print(out)


if __name__ == "__main__":
    main()

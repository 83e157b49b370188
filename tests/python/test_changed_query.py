"""A query, and beside it a new version that begins with a table; both are killed in between."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from killed_labels import LABELS, START, drawn, read
from killed_together import BATCHES_A_RUN, Together, lives_of
from killed_versions import features
from kills import answers_once, in_utc
from test_label_kills import end, save


class Versions:
    """Two versions of a query over the same files, with a checkpoint each."""

    def __init__(self, streams: Together, hours: int) -> None:
        self.streams, self.hour = streams, 0
        self.rows = {hour: list(drawn(streams.rng, hour, 2, 60)) for hour in range(hours)}
        self.until = START
        streams.arguments["old"] = ["1"]

    def come(self, files: int) -> None:
        for hour in range(self.hour, self.hour + files):
            for name in self.streams.arguments:
                save(self.streams.folder / name / "labels", hour, self.rows[hour])
        self.hour += files

    def begin_new(self) -> None:
        """Begin the new version with the table of all rows until the last file."""
        folder = self.streams.folder / "new"
        self.until = START + timedelta(hours=self.hour)
        past = [
            row for of in self.rows.values() for row in of if str(row["ts"]) <= str(self.until)
        ]
        folder.mkdir()
        save(folder / "past", 0, past)
        self.streams.arguments["new"] = ["2", str(self.until)]
        self.streams.first["new"] = 0
        for hour in range(self.hour):
            save(folder / "labels", hour, self.rows[hour])

    def check(self, session: SparkSession) -> None:
        """Rows until the table's end have an answer of the old version, later ones of both."""
        old, new = (answers_once(session, self.streams.folder / name) for name in ("old", "new"))
        folder = self.streams.folder / "old"
        live = read(session, folder / "labels", LABELS, stream=False).where("lab <> -1").cache()
        first = {row.lab: row for row in features(live, "1").collect()}
        second = {row.lab: row for row in features(live, "2").collect() if row.ts > self.until}
        assert old == first
        assert new == second
        assert 0 < len(second) < len(first)
        print(f"{len(first) - len(second)} rows by the old version, {len(second)} by both")


@pytest.mark.slow
@pytest.mark.thorough
def test_two_versions_that_are_killed_answer_each_row_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    program = Path(__file__).with_name("killed_versions.py")
    for killed, kills in lives_of(program, tmp_path, "old"):
        hours = BATCHES_A_RUN * kills + 2
        versions = Versions(killed, hours)
        for kill in range(kills):
            versions.come(BATCHES_A_RUN)
            if kill == kills // 2:
                versions.begin_new()
            killed.kill()
        versions.come(2)
        for name in killed.arguments:
            end(killed.folder / name, hours)
        killed.finish(*killed.arguments)
        versions.check(in_utc(spark))

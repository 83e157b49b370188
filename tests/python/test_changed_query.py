"""A stream whose query changes on one checkpoint, and which is killed in between."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from killed_labels import LABELS, START, drawn, read
from killed_together import BATCHES_A_RUN, Together, lives_of
from killed_versions import features
from kills import answers_once, in_utc
from test_label_kills import end, save

STREAMS = ["a", "b", "c"]


class Versions:
    """A stream whose query changes between kills."""

    def __init__(self, streams: Together, name: str, hours: int) -> None:
        self.streams, self.name, self.hour = streams, name, 0
        self.folder = streams.folder / name
        self.rows = {hour: list(drawn(streams.rng, hour, 2, 60)) for hour in range(hours)}
        streams.arguments[name] = ["1"]

    def come(self, files: int) -> None:
        for hour in range(self.hour, self.hour + files):
            save(self.folder / "labels", hour, self.rows[hour])
        self.hour += files

    @property
    def has_begun(self) -> bool:
        """Whether the checkpoint knows the query, and so its history."""
        return self.streams.batches(self.name, "commits") >= self.streams.first[self.name]

    def change(self, version: str, anew: bool) -> None:
        """Go on with another version, and with the past if that has to be."""
        until = self.streams.arguments[self.name][1:]
        if anew:
            # all rows until the last file, for some an hour more
            until = [str(START + timedelta(hours=self.hour))]
            past = [row for of in self.rows.values() for row in of if str(row["ts"]) <= until[0]]
            save(self.folder / "past", 0, past)
        self.streams.first[self.name] = self.streams.batches(self.name, "commits") + 1
        self.streams.arguments[self.name] = [version, *until]


def change(streams: Together, all_versions: list[Versions]) -> None:
    """Let queries change that have answered: before that, a history would be in their place."""
    rng = streams.rng
    to_change = {}
    for versions in all_versions:
        version = rng.choice("23")
        if versions.has_begun:
            lacks = streams.arguments[versions.name][0] != "3"  # the maximum
            anew = version == "3" and (lacks or rng.random() < 0.5)
            to_change[versions] = (version, anew)
    # a batch that has run, and is not committed, is the earlier query's
    waiting = [v.name for v, (_, anew) in to_change.items() if anew and streams.is_within(v.name)]
    if waiting:
        streams.finish(*waiting)
    for versions, (version, anew) in to_change.items():
        versions.change(version, anew)
        print(f"{versions.name}: version {' '.join(streams.arguments[versions.name])}")


@pytest.mark.slow
def test_versions_of_queries_that_are_killed_answer_each_row_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    program = Path(__file__).with_name("killed_versions.py")
    for killed, kills in lives_of(program, tmp_path, *STREAMS):
        hours = BATCHES_A_RUN * kills + 2
        versions = [Versions(killed, name, hours) for name in STREAMS]
        for kill in range(kills):
            if kill > 0:
                change(killed, versions)
            for stream in versions:
                stream.come(BATCHES_A_RUN)
            killed.kill()
        for stream in versions:
            stream.come(2)
            end(stream.folder, hours)
        killed.finish(*STREAMS)
        for stream in versions:
            check_versions(in_utc(spark), stream.folder)


def check_versions(session: SparkSession, folder: Path) -> None:
    """Each row has one answer, of the version that has answered it."""
    ours = answers_once(session, folder)
    live = read(session, folder / "labels", LABELS, stream=False).where("lab <> -1").cache()
    assert ours.keys() == {row.lab for row in live.select("lab").collect()}
    for version in ("1", "2", "3"):
        of = {lab: tuple(row) for lab, row in ours.items() if row.version == version}
        batch = features(live, version).where(F.col("lab").isin(list(of)))
        assert of == {row.lab: tuple(row) for row in batch.collect()}, version
        print(f"version {version}: {len(of)} rows")

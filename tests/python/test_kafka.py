"""A stream from Kafka that is killed again and again gives each row once, and unchanged."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
from kafka import KafkaProducer
from pyspark.sql import SparkSession

from broker import broker
from killed import VALUE, features, with_time
from kills import KILLS, SEED, Killed

START = 1_772_323_200_000_000  # 2026-03-01
SECOND = 1_000_000
STEP = SECOND // 20
ROWS_A_ROUND = 1_500
LATE_A_ROUND = 20
ROWS_A_BATCH = 200

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        pyspark.__version__.startswith("4.1."),
        reason="Spark 4.1's source of Kafka fails where it goes on (SPARK-55271, SPARK-57438)",
    ),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with broker(tmp_path_factory.mktemp("broker")) as address:
        yield address


class Topic:
    """Rows that come up to 10 seconds late, and some an hour, which the watermark has passed."""

    def __init__(self, address: str, name: str, rng: random.Random) -> None:
        # a batch that it sends again, since an answer was late, counts once
        self.producer = KafkaProducer(bootstrap_servers=address, enable_idempotence=True)
        self.name = name
        self.rng = rng
        self.next_id = 0
        self.in_time: list[tuple[int, int | None, int, int | None]] = []
        self.late: set[int] = set()
        self.times: set[int] = set()

    def row(self, micros: int) -> tuple[int, int | None, int, int | None]:
        k = self.rng.choice([None, 0, 0, 0, 1, 1, *range(2, 20)])
        row = (self.next_id, k, micros, self.rng.choice([None, *range(40)]))
        self.next_id += 1
        value = dict(zip(("id", "k", "micros", "x"), row, strict=True))
        partition = self.rng.randrange(2)
        self.producer.send(self.name, json.dumps(value).encode(), partition=partition)
        return row

    def send(self, late: int) -> None:
        rows = [False] * ROWS_A_ROUND + [True] * late
        self.rng.shuffle(rows)
        for is_late in rows:
            if is_late:
                row = self.row(START - 3600 * SECOND - self.rng.randrange(SECOND))
                self.late.add(row[0])
            else:
                self.in_time.append(self.row(self.new_time()))
        self.producer.flush()

    def new_time(self) -> int:
        """A time that no other row has, so that there is one order."""
        micros = START + len(self.in_time) * STEP - self.rng.randrange(10 * SECOND)
        if micros in self.times:
            return self.new_time()
        self.times.add(micros)
        return micros

    def end(self) -> None:
        """Rows that the watermark does not pass: they let it pass all others."""
        for partition in range(2):
            end = START + len(self.in_time) * STEP + 3600 * SECOND
            value = {"id": -1, "k": 0, "micros": end, "x": 0}
            self.producer.send(self.name, json.dumps(value).encode(), partition=partition)
        self.producer.close()


def test_a_stream_that_is_killed_gives_each_row_once(
    spark: SparkSession, address: str, tmp_path: Path
) -> None:
    rng = random.Random(SEED)  # noqa: S311
    print(f"SASH_TEST_SEED={SEED} SASH_TEST_KILLS={KILLS}")
    topic = Topic(address, "rows", rng)
    killed = Killed(Path(__file__).with_name("killed.py"), tmp_path, rng)
    for _ in range(KILLS):
        # what is late has a watermark to be later than
        topic.send(late=LATE_A_ROUND if killed.batches("commits") >= 1 else 0)
        killed.run_and_kill(address, topic.name, str(ROWS_A_BATCH))
    topic.end()
    killed.finish(address, topic.name, "5000")

    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    answers = session.read.parquet(str(tmp_path / "out")).collect()
    ours = {row.id: tuple(row) for row in answers}
    assert len(ours) == len(answers), "rows are doubled"
    batch = features(with_time(session.createDataFrame(topic.in_time, VALUE))).collect()
    expected = {row.id: tuple(row) for row in batch}
    assert topic.late
    assert not ours.keys() & topic.late
    assert sorted(expected.keys() - ours.keys()) == [], "rows are lost"
    assert ours == expected
    assert len(ours) == KILLS * ROWS_A_ROUND

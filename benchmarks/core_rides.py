"""Rides on bikes as the bulk FiBA paper has them (section 7.4): a made file of the same shape.

The paper slides windows of hours to weeks over Citi Bike's rides of New York. These rides are
drawn: more by day than by night and on weekdays, none in some hours of repair, most of them in
order, some seconds late, and few late by hours. So the window's elements, the sizes of evictions
and the distances of insertions vary over orders of magnitude, as in figure 15.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness import chart

DAYS = 36
RIDES = 2_000_000
DAY = 86_400
FILE = Path(__file__).parent.parent / "target" / f"rides-{RIDES}.csv"
FIRST = np.datetime64("2018-08-01T00:00:00.000")
COLUMNS = (
    '"tripduration","starttime","stoptime","start station id","start station name",'
    '"start station latitude","start station longitude","end station id","end station name",'
    '"end station latitude","end station longitude","bikeid","usertype","birth year","gender"'
)
Seconds = npt.NDArray[np.float64]


def make() -> None:
    """Write the rides, in the columns of Citi Bike's files, unless they are there."""
    if not FILE.exists():
        starts = _starts()
        durations = np.random.default_rng(2).lognormal(6.5, 0.8, RIDES).astype(int) + 60
        times = FIRST + (starts * 1000).astype("timedelta64[ms]")
        rest = "2018-08-01 00:00:00,1,a,0,0,1,a,0,0,1,a,1990,0"
        FILE.parent.mkdir(exist_ok=True)
        with FILE.open("w") as out:
            out.write(COLUMNS + "\n")
            for duration, time in zip(durations, np.datetime_as_string(times), strict=True):
                out.write(f"{duration},{time.replace('T', ' ')},{rest}\n")


def _starts() -> Seconds:
    """Seconds since the first day, in the order in which the rides come."""
    random = np.random.default_rng(1)
    by_hour = np.array([1, 1, 1, 1, 1, 2, 6, 12, 18, 12, 10, 11, 12, 12, 13, 14, 18, 24, 22, 15])
    by_hour = np.append(by_hour, [11, 8, 6, 3])
    by_day = np.where(np.arange(DAYS) % 7 < 5, 1.0, 0.7) * random.uniform(0.5, 1.2, DAYS)
    weights = np.outer(by_day, by_hour).ravel()
    repairs = random.choice(weights.size, 12, replace=False)
    weights[repairs] = 0
    hours = random.choice(weights.size, RIDES, p=weights / weights.sum())
    starts = np.sort(np.round((hours + random.random(RIDES)) * 3600, 3))
    kind = random.random(RIDES)
    late = np.where(kind < 0.3, random.exponential(5, RIDES), 0)
    late = np.where(kind < 3e-4, random.uniform(0, 5 * 3600, RIDES), late)
    return starts[np.argsort(starts + late, kind="stable")]


def draw(path: Path) -> None:
    """Figure 15: elements of a window of a day, sizes of evictions, distances of insertions."""
    starts = _starts()
    youngest = np.maximum.accumulate(starts)
    ordered = np.sort(starts)
    # how many are older than the window when a ride comes, and how many have come and are younger
    gone = np.searchsorted(ordered, youngest - DAY)
    evicted = np.diff(gone, prepend=0)
    panels = {
        "elements of a window of a day": (np.arange(1, RIDES + 1) - gone)[youngest > DAY],
        "elements that leave at once": evicted[evicted > 0],
        "younger elements of a late one": _distances(starts),
    }
    with chart(path, (13, 4), (1, 3)) as (_, axes):
        for axis, (title, found) in zip(axes, panels.items(), strict=True):
            bins = np.geomspace(1, max(2, found.max()), 40) if found.min() < 100 else 40
            axis.hist(found, bins=bins, color="#0072B2")
            axis.set(yscale="log", xlabel=title)
            if not isinstance(bins, int):
                axis.set_xscale("log")
        axes[0].set_ylabel("rides")


def _distances(starts: Seconds) -> npt.NDArray[np.int64]:
    """For each ride that comes after a younger one, how many of those before it are younger."""
    youngest = np.maximum.accumulate(starts)
    late = np.flatnonzero(starts < youngest)
    found = []
    for at in late:
        # rides are late by five hours at most, so the younger ones are among the last
        first = np.searchsorted(youngest, starts[at], side="right")
        found.append(int((starts[first:at] > starts[at]).sum()))
    return np.array(found, dtype=np.int64)

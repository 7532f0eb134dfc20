"""How long it takes to read 100,000 links again after a title rule came, and after it went, and how the API answers meanwhile.

A real `kurabito serve` with 2,000 series. Both rules move a tenth of the links, and without them they move back: the first says
something about these alone, the second about every link, so that all titles are read. One client each reads a series and changes
a subscription, 50 times a second, as in `api_latency`: idle first, then during the reading.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

import psutil

from api_latency import KEY, MOST_MS, MOST_TIMES, ApiClient, ApiRequest, ask_at_a_pace, p99, serving
from harness import Options, Outcome, Row, number, run_alone, wait_for_quiet
from kurabito.app.database import prepare_database
from kurabito.catalog.intake import CatalogIntake
from kurabito.catalog.relinks import sources
from kurabito.db import Connection, Database, open_database
from kurabito.feeds.results import FeedItem, FetcherResults
from kurabito.settings import Settings
from processes import BenchmarkBroken

MOST_SECONDS: Final = 10.0
_FIRST: Final = "Amber Barley Copper Dusk Ember Frost Garden Harbor Ivory Jade".split()
_SECOND: Final = "Song Diary Academy Chronicle Witch Engine Letter Market Parade Shrine".split()
_THIRD: Final = (
    "of the North,in Winter,and Me,without Wings,at Dawn,Reborn,for Two,on Rails,from Afar,under Glass".split(",")
)
_FOURTH: Final = ("", " Again")
_STYLES: Final = (
    "[Kura] {name} - {episode:02} [1080p][WebRip][HEVC]",
    "[Miso] {name} [{episode:02}][WEB-DL 720p AVC AAC MP4]",
)
_SUBSCRIBE: Final = (
    "INSERT INTO subscriptions (name, url, new_series, start_with, fetch_interval, created_at, updated_at) "
    "VALUES ('all', 'https://feeds.example/all', 'add', 'missing', 3600000000, :now, :now) RETURNING id"
)
_EPISODES: Final = (
    "INSERT INTO episodes (series_id, kind, number, created_at, updated_at) "
    "SELECT series_id, kind, :number, :now, :now FROM episodes WHERE number = 1"
)
_LINKS: Final = (
    "INSERT INTO anime_links (release_key, raw_item_id, series_id, episode_id, group_id, title, url, download_type, resolution, "
    "source, languages, is_batch, clues, created_at) "
    "SELECT link.release_key || :key, link.raw_item_id, link.series_id, episode.id, link.group_id, "
    "replace(replace(link.title, ' - 01 ', :dashed), '[01]', :bracketed), link.url || :key, link.download_type, "
    "link.resolution, link.source, link.languages, link.is_batch, link.clues, :now "
    "FROM anime_links AS link JOIN episodes AS first ON first.id = link.episode_id AND first.number = 1 "
    "JOIN episodes AS episode ON episode.series_id = link.series_id AND episode.kind = first.kind AND episode.number = :number"
)
_RULES: Final[dict[str, dict[str, Any]]] = {
    "a rule that fits a tenth": {
        "condition": r"\[Kura\]|\[Miso\]",
        "parse": r"(?P<title>Amber .+?) (?:- |\[)\d",
        "fields": {"season": "2"},
    },
    "a rule that fits all": {
        "condition": r"\[Kura\]|\[Miso\]",
        "parse": r"^\[\w+\] (?:Amber (?P<title>.+?)|.+?) (?:- |\[)\d",
    },
}
_PART: Final = {"a rule that fits a tenth": 10, "a rule that fits all": 1}
_IDLE, _BUSY = "idle", "reading again"


class Taken(NamedTuple):
    """What reading again once took."""

    seconds: float
    cpu_seconds: float
    """Of the server and of the processes that it started, with what it answered meanwhile."""


def run(options: Options) -> Outcome:
    """In each round a new database."""
    episodes = options.size(25, quick=2)
    taken: dict[str, list[Taken]] = {rule: [] for rule in _RULES}
    samples: dict[tuple[str, str], list[float]] = {}
    links = 0
    for number_ in range(1, options.rounds + 1):
        with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as folder:
            links = asyncio.run(_fill(Path(folder), episodes))
            if not options.quick:
                wait_for_quiet()
            _measure(Path(folder), links, options.size(10, quick=1), taken, samples)
        shown = (f"{one.seconds:.2f} s ({one.cpu_seconds:.2f} s CPU)" for some in taken.values() for one in some)
        print(f"  round {number_}/{options.rounds}  {', '.join(shown)}", flush=True)
    rows = [
        *(_row_of_rule(links, rule, some, options) for rule, some in taken.items()),
        *(_row(request, samples, options) for request in sorted({request for _, request in samples})),
    ]
    notes = [
        f"{request}, {phase}: p50 {statistics.median(seen):.2f} ms, p99 {p99(seen):.2f} ms, max {max(seen):.1f} ms of {len(seen)}"
        for (phase, request), seen in samples.items()
    ]
    cpu = (f"after {rule} {statistics.median(one.cpu_seconds for one in some):.1f} s" for rule, some in taken.items())
    notes.append(
        f"SQLite; both rules move a tenth of the links. CPU, with what was answered meanwhile: {', '.join(cpu)}"
    )
    return Outcome(rows, notes)


def _row_of_rule(links: int, rule: str, taken: list[Taken], options: Options) -> Row:
    took = statistics.median(one.seconds for one in taken)
    passed = None if options.quick else took <= MOST_SECONDS
    return Row(f"{links:,} links after {rule}", number(took, " s"), "-", "-", f"≤ {MOST_SECONDS:g} s", passed)


def _row(request: str, samples: dict[tuple[str, str], list[float]], options: Options) -> Row:
    busy, idle = p99(samples[_BUSY, request]), p99(samples[_IDLE, request])
    passed = None if options.quick else busy <= MOST_TIMES * idle and busy <= MOST_MS
    return Row(
        f"{request} meanwhile, p99",
        number(busy, " ms"),
        f"{number(idle, ' ms')} (idle)",
        f"{busy / idle:.2f}x",
        f"≤ {MOST_TIMES:g}x and ≤ {MOST_MS:g} ms",
        passed,
    )


async def _fill(state: Path, episodes: int) -> int:
    """The first episodes come through the intake; the others are made after them."""
    settings = Settings(state=state)
    prepare_database(settings)
    database = open_database(settings.database)
    database.open()
    try:
        await _bring(database)

        def fill(conn: Connection) -> int:
            for number_ in range(2, episodes + 1):
                conn.run(_EPISODES, {"number": float(number_)})
                given = {"dashed": f" - {number_:02} ", "bracketed": f"[{number_:02}]", "key": f"-{number_}"}
                conn.run(_LINKS, {"number": float(number_), **given})
            # Else they are read again by this version's parser first.
            sources.note(conn, sources.current(conn))
            return int(conn.value("SELECT count(*) FROM anime_links"))

        return await database.write(fill)
    finally:
        database.close()


async def _bring(database: Database) -> None:
    feed = int(await database.write(lambda conn: conn.value(_SUBSCRIBE)))
    intake = CatalogIntake(database)
    names = [f"{one} {two} {three}{four}" for one, two, three, four in product(_FIRST, _SECOND, _THIRD, _FOURTH)]
    titles = [style.format(name=name, episode=1) for style in _STYLES for name in names]
    for start in range(0, len(titles), 500):
        items = tuple(
            FeedItem(title=title, download_url=f"https://feeds.example/{start + place}.torrent")
            for place, title in enumerate(titles[start : start + 500])
        )
        await intake.receive(FetcherResults(subscription_id=feed, items=items))


def _measure(
    state: Path,
    links: int,
    idle_seconds: float,
    taken: dict[str, list[Taken]],
    samples: dict[tuple[str, str], list[float]],
) -> None:
    """Read all links again, with each rule and without it."""
    environment = {
        **os.environ,
        "KURABITO_STATE": str(state),
        "KURABITO_API_KEY": KEY,
        "KURABITO_LOG_LEVEL": "warning",
    }
    paths: dict[str, ApiRequest] = {
        "GET /series/{id}": ("GET", "series/1"),
        "PATCH /subscriptions/{id}": ("PATCH", "subscriptions/1", {"name": "all"}),
    }
    with serving(environment) as address:

        def during(phase: str, over: Callable[[], bool]) -> None:
            for request, milliseconds in ask_at_a_pace(address, paths, over).items():
                samples.setdefault((phase, request), []).extend(milliseconds)

        until = time.monotonic() + idle_seconds
        during(_IDLE, lambda: time.monotonic() >= until)
        finished = 0
        for name, rule in _RULES.items():
            place = "title-rules"
            for ask in ("POST", "DELETE"):
                began, cpu = time.perf_counter(), _cpu_seconds()
                made = ApiClient(address).ask(ask, place, **({"name": name, **rule} if ask == "POST" else {}))
                during(_BUSY, partial(_is_over, address, finished, links // _PART[name]))
                taken[name].append(Taken(time.perf_counter() - began, _cpu_seconds() - cpu))
                finished += 1
                place = f"title-rules/{made['id']}" if made else place


def _is_over(address: str, before: int, links: int) -> bool:
    """Whether links were read again once more, and all that had to be."""
    runs = [run for run in ApiClient(address).ask("GET", "relinks")["items"] if run["finished_at"] is not None]
    if len(runs) == before:
        return False
    if runs[0]["links_read"] != links:
        raise BenchmarkBroken(f"not {links} links were read: {runs[0]}")
    return True


def _cpu_seconds() -> float:
    """What the processes below this one took so far, those that ended among them."""
    return sum(sum(process.cpu_times()[:4]) for process in psutil.Process().children(recursive=True))


if __name__ == "__main__":
    run_alone("relink", run)

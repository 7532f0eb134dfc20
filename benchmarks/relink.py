"""How long it takes to read 100,000 links again after a title rule came, and after it went, and how the API answers meanwhile.

A real `kurabito serve` with 2,000 series. The rule concerns every link and moves a tenth of them; without it they move back. One
client each reads a series and changes a subscription, 50 times a second, as in `api_latency`: idle first, then during the reading.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import Any, Final

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
_RULE: Final[dict[str, Any]] = {
    "name": "a tenth is another season",
    "condition": r"\[Kura\]|\[Miso\]",
    "parse": r"(?P<title>Amber .+?) (?:- |\[)\d",
    "fields": {"season": "2"},
}
_IDLE, _BUSY = "idle", "reading again"


def run(options: Options) -> Outcome:
    """In each round a new database."""
    episodes = options.size(25, quick=2)
    seconds: list[float] = []
    samples: dict[tuple[str, str], list[float]] = {}
    links = 0
    for number_ in range(1, options.rounds + 1):
        with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as folder:
            links = asyncio.run(_fill(Path(folder), episodes))
            if not options.quick:
                wait_for_quiet()
            seconds += _measure(Path(folder), links, options.size(10, quick=1), samples)
        print(f"  round {number_}/{options.rounds}  {', '.join(f'{one:.2f} s' for one in seconds)}", flush=True)
    took = statistics.median(seconds)
    rows = [
        Row(
            f"{links:,} links read again after a rule",
            number(took, " s"),
            "-",
            "-",
            f"≤ {MOST_SECONDS:g} s",
            None if options.quick else took <= MOST_SECONDS,
        ),
        *(_row(request, samples, options) for request in sorted({request for _, request in samples})),
    ]
    notes = [
        f"{request}, {phase}: p50 {statistics.median(seen):.2f} ms, p99 {p99(seen):.2f} ms, max {max(seen):.1f} ms of {len(seen)}"
        for (phase, request), seen in samples.items()
    ]
    return Outcome(rows, [*notes, "SQLite; the rule moves a tenth of the links, and they move back without it"])


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
    state: Path, links: int, idle_seconds: float, samples: dict[tuple[str, str], list[float]]
) -> tuple[float, float]:
    """Seconds until all links were read again, with the rule and without it."""
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

        def during(phase: str, over: Any) -> None:
            for request, taken in ask_at_a_pace(address, paths, over).items():
                samples.setdefault((phase, request), []).extend(taken)

        until = time.monotonic() + idle_seconds
        during(_IDLE, lambda: time.monotonic() >= until)
        took = []
        for turn in (1, 2):
            began = time.perf_counter()
            api = ApiClient(address)
            if turn == 1:
                rule = api.ask("POST", "title-rules", **_RULE)["id"]
            else:
                api.ask("DELETE", f"title-rules/{rule}")
            during(_BUSY, lambda turn=turn: _finished(address, links) >= turn)  # type: ignore[misc]
            took.append(time.perf_counter() - began)
        return took[0], took[1]


def _finished(address: str, links: int) -> int:
    """How often links were read again to the end."""
    runs = ApiClient(address).ask("GET", "relinks")["items"]
    over = [run for run in runs if run["finished_at"] is not None]
    if any(run["links_read"] != links for run in over):
        raise BenchmarkBroken(f"of {links} links were read: {over}")
    return len(over)


if __name__ == "__main__":
    run_alone("relink", run)

"""What scans left is looked at again: by what is known here by now, then at TMDB."""

from __future__ import annotations

import json
import sys
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.catalog.matching import decision, knowledge, matches
from kurabito.catalog.matching.model import MatchedBy, MatchReason, MatchState
from kurabito.db import Connection, Dialect, Query
from kurabito.metadata import records
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import RecordKind, TmdbKind
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import OfflineEntry
from kurabito.metadata.sources.tmdb import TMDB_LIMITS

if TYPE_CHECKING:
    from tests.integration.matching.conftest import Desk
    from tests.integration.metadata.world import World

WEEK = 7 * 86_400


def entry(bgm_id: int, title: str, *others: str, season: int | None = None) -> OfflineEntry:
    ids = Ids(bgm_id=bgm_id, tmdb_id=7, tmdb_kind=TmdbKind.TV, tmdb_season=season)
    return OfflineEntry(title, RecordKind.TV, "ja", ids, date(2020, 4, 1), other_titles=others)


def show(number: int, name: str, day: str, **further: Any) -> Any:
    return sys.modules["matching_world"].Show(number, name, day, **further)


async def test_an_index_that_came_later_matches_what_was_left_and_gives_series_their_records(desk: Desk) -> None:
    assert await desk.scan("Kura no Yoru/01.mkv", "Kura no Yoru/Season 2/01.mkv", "Nobody/01.mkv") == 3
    for number, title, season in ((1, "Kura no Yoru", 1), (2, "Kura no Yoru", 2), (3, "Nobody", 1)):
        series = {"id": number, "title": title, "season": season}
        desk.run(
            "INSERT INTO series (id, title, season, created_at, updated_at) VALUES (:id, :title, :season, :now, :now)",
            **series,
        )
    desk.index(entry(1, "蔵の夜", "Kura no Yoru", season=1), entry(2, "蔵の夜 第2期", season=2))
    done = await desk.online(None).match_again()
    assert (done.series, done.offline, done.asked) == (2, 2, 0)
    found = await desk.all(MatchState.MATCHED)
    told = {folder: desk.get(match.metadata_id).details.bgm_id for folder, match in found.items()}
    assert told == {"Kura no Yoru": 1, "Kura no Yoru/Season 2": 2}
    records_of = [(await desk.catalog.get(number)).metadata_id for number in (1, 2, 3)]
    assert records_of == [found["Kura no Yoru"].metadata_id, found["Kura no Yoru/Season 2"].metadata_id, None]
    assert desk.count_records() == 2
    # There is nothing to do a second time.
    done = await desk.online(None).match_again()
    assert (done.series, done.offline) == (0, 0)


async def test_tmdb_decides_by_an_exact_name_and_year_alone_and_else_offers(desk: Desk, world: World) -> None:
    world.shows += [
        show(1, "蔵の夜", "2018-04-01"),
        show(2, "蔵の朝", "2018-04-01"),
        show(3, "蔵の朝", "2018-07-01"),
        show(4, "蔵の昼", "2001-04-01"),
        show(5, "蔵の宵", "2018-04-01", genres=(18,)),
        show(6, "蔵の暁", "2018-04-01"),
    ]
    folders = ("蔵の夜 (2018)", "蔵の朝 (2018)", "蔵の昼 (2018)", "蔵の宵 (2018)", "蔵の暁", "蔵の暁 (2018)/Season 2")
    assert await desk.scan(*(f"{folder}/01.mkv" for folder in folders)) == 6
    done = await desk.online(world.port).match_again()
    assert (done.asked, done.online) == (6, 1)
    (found,) = (await desk.all(MatchState.MATCHED)).values()
    assert (found.folder, found.matched_by) == ("蔵の夜 (2018)", MatchedBy.ONLINE)
    details = desk.get(found.metadata_id).details
    assert (details.tmdb_id, details.title_japanese) == (1, "蔵の夜")
    assert details.poster_url
    offered = {folder: [one.key for one in match.candidates] for folder, match in (await desk.open()).items()}
    assert offered["蔵の朝 (2018)"] == ["tmdb:tv:2", "tmdb:tv:3"]
    assert offered["蔵の暁"] == offered["蔵の暁 (2018)/Season 2"] == ["tmdb:tv:6"]
    (old,) = (await desk.open())["蔵の昼 (2018)"].candidates
    assert set(old.reasons) == {MatchReason.ONLINE, MatchReason.OTHER_YEAR}

    # One of them is the one; two folders that are about the same get one record.
    first = await desk.matches.choose((await desk.open())["蔵の暁"].id, "tmdb:tv:6")
    later = await desk.matches.choose((await desk.open())["蔵の暁 (2018)/Season 2"].id, "tmdb:tv:6")
    assert desk.get(first.metadata_id).details.tmdb_season is None
    assert desk.get(later.metadata_id).details.tmdb_season == 2

    # Whom TMDB was asked about it is not asked about within a week, but when somebody wants it.
    asked = len(world.asked)
    await desk.online(world.port).match_again()
    assert len(world.asked) == asked
    await desk.matches.look_again()
    assert (await desk.online(world.port).match_again()).asked == 3
    desk.clock.advance(WEEK)
    assert (await desk.online(world.port).match_again()).asked == 0
    desk.clock.advance(1)
    assert (await desk.online(world.port).match_again()).asked == 3


async def test_a_tmdb_that_does_not_answer_spends_nothing(desk: Desk, world: World) -> None:
    await desk.scan("蔵の夜/01.mkv", "蔵の朝/01.mkv")
    world.troubles += [(401, {})]
    done = await desk.online(world.port).match_again()
    assert (done.asked, done.failed) == (0, 2)
    # A key that is refused for one folder is refused for all.
    assert len(world.asked) == 1
    assert all(match.asked_at is None for match in (await desk.open()).values())
    assert (await desk.online(world.port).match_again()).asked == 2


async def test_one_lookup_that_fails_leaves_the_others_alone(
    desk: Desk, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kurabito.http.retries._FIRST_WAIT", 0.0)
    world.shows += [show(number, f"蔵{number}", "2018-04-01") for number in range(1, 5)]
    await desk.scan(*(f"蔵{number} (2018)/01.mkv" for number in range(1, 5)))
    world.troubles += [(500, {})] * TMDB_LIMITS.attempts
    done = await desk.online(world.port).match_again()
    assert (done.asked, done.online, done.failed) == (3, 3, 1)
    (left,) = (await desk.open()).values()
    assert left.asked_at is None
    assert (await desk.online(world.port).match_again()).online == 1


async def test_shows_and_films_of_the_west_are_decided_by_name_and_year_or_country(desk: Desk, world: World) -> None:
    western = {"genres": (18,), "language": "en", "countries": ("US",)}
    world.shows += [
        show(1, "Cellar", "2005-04-01", **western),
        show(2, "Cellar", "2001-04-01", **western | {"countries": ("GB",)}),
        show(3, "Night Watch", "2010-04-01", **western),
        # Japanese live action of the name, and an anime of the year before.
        show(4, "蔵", "2020-04-01", genres=(18,), local="The Vault"),
        show(5, "Bottle", "2015-04-01"),
        show(6, "Bottle", "2016-04-01", **western),
        show(7, "와인", "2021-04-01", genres=(18,), language="ko", local="Wine", countries=("KR",)),
    ]
    world.season_starts[3] = ["2010-04-01", "2011-04-01", "2013-04-01"]
    await desk.scan(
        "Cellar (UK)/01.mkv",
        "Cellar (2005)/Season 3/01.mkv",
        "Cellar/01.mkv",
        "Night Watch/01.mkv",
        "Night Watch S03 (2013)/01.mkv",
        "Night Watch S03 (2019)/01.mkv",
        "The Vault (2020)/01.mkv",
        "Bottle (2016)/01.mkv",
        "Wine (2021)/01.mkv",
    )
    await desk.online(world.port).match_again()
    found = {
        folder: desk.get(match.metadata_id).details for folder, match in (await desk.all(MatchState.MATCHED)).items()
    }
    assert {folder: (one.tmdb_id, one.tmdb_season) for folder, one in found.items()} == {
        "Cellar (UK)": (2, None),
        "Cellar (2005)/Season 3": (1, 3),
        "Night Watch": (3, None),
        "Night Watch S03 (2013)": (3, 3),
        "Wine (2021)": (7, None),
    }
    assert (found["Wine (2021)"].title_english, found["Wine (2021)"].title_japanese) == ("Wine", None)


MANY = 5_000
NUMBERS = f"WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {MANY}) "
FILL = {
    "metadata (id, kind, title_japanese, tmdb_id, tmdb_kind, bgm_id, created_at, updated_at)": "n, 'tv', 't', n, 'tv', n, 1, 1",
    "metadata_titles (folded, metadata_id)": "'f' || n, n",
    "offline_entries (id, kind, title, language, tmdb_id, bgm_id)": "n, 'tv', 't', 'ja', n, n",
    "offline_titles (folded, entry_id)": "'f' || n, n",
    "series (id, title, metadata_id, created_at, updated_at)": "n, 's', CASE WHEN n % 50 > 0 THEN n END, 1, 1",
    "series_aliases (folded, kind, season, name, series_id)": "'f' || n, 'tv', 1, 's' || n, n",
    "library_files (id, library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at)": (
        "n, n % 2 + 1, 'f' || n || '/x.mkv', 1, 1, 1, 1"
    ),
    "scan_sessions (id, job_id, library_id, started_at)": "n, 'j' || n, n % 2 + 1, 1",
    "folder_matches (id, library_id, folder, reading, file_id, job_id, metadata_id, is_ignored, created_at, updated_at)": (
        "n, n % 2 + 1, 'f' || n, '{}', n, 'j' || n, CASE WHEN n % 50 > 0 THEN n END, CASE WHEN n % 100 = 0 THEN 1 ELSE 0 END, "
        "1, 1"
    ),
}


def statements() -> list[tuple[Query, str]]:
    """What is asked, and the index that SQLite has to answer it by."""
    match, known, decide = matches._SQL, knowledge._SQL, decision._SQL
    record, index = records._SQL, offline._SQL
    return [
        (match.page_open, "ix_folder_matches_open"),
        (match.page_ignored, "ix_folder_matches_ignored"),
        (match.page_matched, "PRIMARY KEY"),
        (match.page_chosen, "PRIMARY KEY"),
        (match.count_open, "ix_folder_matches_"),
        (match.count_left, "ix_folder_matches_left (job_id=?)"),
        (match.of_records, "ix_folder_matches_record"),
        (match.known, "(library_id=? AND folder=?)"),
        (match.unasked, "ix_folder_matches_open"),
        (match.files_after, "PRIMARY KEY"),
        (match.scans_since, "ix_scan_sessions_library"),
        (match.forget_gone, "(library_id=?)"),
        (match.moved, "(library_id=?)"),
        (known.series_named, "(folded=?)"),
        (decide.without_record, "ix_series_without_record"),
        (decide.aliases, "ix_series_aliases_series"),
        (record.named, "PRIMARY KEY (folded=?)"),
        (record.several, "PRIMARY KEY"),
        (record.of_bgms, "ix_metadata_bgm"),
        (record.of_shows, "ix_metadata_tmdb"),
        (record.of_tmdb, "ix_metadata_tmdb"),
        (index.of_shows, "ix_offline_entries_tmdb"),
    ]


@pytest.mark.parametrize("with_statistics", [False, True])
async def test_every_question_has_its_index(desk: Desk, with_statistics: bool) -> None:
    def fill(conn: Connection) -> None:
        for into, values in FILL.items():
            assert conn.run(f"INSERT INTO {into} {NUMBERS} SELECT {values} FROM numbers") == MANY
        if with_statistics:
            conn.run("ANALYZE")

    desk.database.write_blocking(fill)
    given = {
        "after": 4_000,
        "limit": 50,
        "library_id": 1,
        "job_id": "j5",
        "cool_down": 1,
        "session_id": 4_900,
        "tmdb_id": 5,
    }
    given |= {"tmdb_kind": "tv", "tmdb_season": None, "rows": json.dumps([{"id": 5, "folded": "f5", "folder": "f5"}])}
    for query, index in statements():
        sql = query.text(desk.database.dialect)
        values = {**given, "rows": "[[5]]"} if "->> 0" in sql else given
        if desk.database.dialect is Dialect.SQLITE:
            rows = desk.database.read_blocking(lambda conn: conn.all(f"EXPLAIN QUERY PLAN {sql}", values))  # noqa: B023
            steps = [row[3] for row in rows if "given" not in row[3] and "LIST SUBQUERY" not in row[3]]
            assert index in steps[0], (sql, steps)
            # An index that holds open folders alone may be read as a whole: those are what is counted.
            whole = [step for step in steps if step.startswith("SCAN") and "ix_folder_matches_" not in step]
            assert not whole, (sql, steps)
            assert ":limit" not in sql or not [step for step in steps if "ORDER BY" in step], (sql, steps)
        else:
            assert whole_reads(desk, sql, values) == [], sql


def whole_reads(desk: Desk, sql: str, values: dict[str, Any]) -> list[str]:
    """The tables that PostgreSQL has to read from one end to the other."""

    def explain(conn: Connection) -> Any:
        # Of small tables it rightly reads all; the question is whether it has to.
        conn.run("SET LOCAL enable_seqscan = off")
        return conn.all(f"EXPLAIN (FORMAT JSON) {sql}", values)[0][0][0]["Plan"]

    return _seq_scans(desk.database.write_blocking(explain))


def _seq_scans(node: dict[str, Any]) -> list[str]:
    own = [node["Relation Name"]] if node["Node Type"] == "Seq Scan" else []
    return own + [name for below in node.get("Plans", []) for name in _seq_scans(below)]

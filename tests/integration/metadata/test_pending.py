"""Which records a sync takes: exactly those that lack something, found through their indexes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from kurabito.clock import to_datetime
from kurabito.db import Connection, Dialect
from kurabito.db.queries import for_postgres
from kurabito.metadata import get_metadata_to_sync, needs_poster_sync, needs_tmdb_sync, pending, records
from kurabito.metadata.errors import MetadataConflict, MetadataNotFound
from kurabito.metadata.pending import Ids, Lookup
from kurabito.metadata.records import RecordCandidate, RecordKind, TmdbKind

if TYPE_CHECKING:
    from tests.integration.metadata.conftest import Desk
    from tests.integration.metadata.world import World

WEEK = 7 * 24 * 3600
# (poster_url, tmdb_id, title_japanese, seconds since the lookup): does it need a poster, does it need an id?
CASES: list[tuple[str | None, int | None, str | None, float | None, bool, bool]] = [
    (None, None, None, None, False, False),
    ("", None, "", None, False, False),
    ("/posters/0123456789abcdef.jpg", 7, "蔵", None, False, False),
    ("https://img.test/a.jpg", 7, "蔵", None, True, False),
    ("/Posters/a.jpg", 7, None, None, True, False),
    ("/posters", 7, None, None, True, False),
    ("posters/a.jpg", 7, None, None, True, False),
    (None, None, "蔵", None, False, True),
    (None, 7, "蔵", None, False, False),
    (None, None, "蔵", WEEK - 1, False, False),
    (None, None, "蔵", WEEK, False, False),
    (None, None, "蔵", WEEK + 0.000_001, False, True),
    ("https://img.test/b.jpg", None, "蔵", WEEK * 2, True, True),
    ("https://img.test/b.jpg", None, "蔵", 5, True, False),
]
FILL = (
    "INSERT INTO metadata (kind, title_japanese, poster_url, tmdb_lookup_at, created_at, updated_at) "
    "SELECT 'tv', 'name ' || n, '/posters/0123456789abcdef.jpg', :now - 1000, 0, 0 FROM {numbers}"
)
NUMBERS = {
    Dialect.SQLITE: "(WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 20000) SELECT n FROM c)",
    Dialect.POSTGRES: "generate_series(1, 20000) AS n",
}


def look_up_ago(desk: Desk, metadata_id: int, seconds: float) -> None:
    desk.database.write_blocking(
        lambda conn: conn.run(
            "UPDATE metadata SET tmdb_lookup_at = :at WHERE id = :id",
            {"at": desk.clock.now() - round(seconds * 1_000_000), "id": metadata_id},
        )
    )


async def test_the_database_and_the_rules_agree_on_who_lacks_what(desk: Desk) -> None:
    now = to_datetime(desk.clock.now())
    expected: list[tuple[int, bool, bool]] = []
    for poster, tmdb_id, title, ago, needs_poster, needs_id in CASES:
        one = desk.add(poster_url=poster, tmdb_id=tmdb_id, title_japanese=title)
        if ago is not None:
            look_up_ago(desk, one, ago)
        record = desk.get(one)
        assert (needs_poster_sync(record), needs_tmdb_sync(record, now)) == (needs_poster, needs_id), (poster, ago)
        expected.append((one, needs_poster, needs_id))
    read = desk.database.read_blocking
    assert [found.id for found in read(get_metadata_to_sync)] == [one for one, a, b in expected if a or b]
    without_ids = read(lambda conn: get_metadata_to_sync(conn, ids=False))
    assert [found.id for found in without_ids] == [one for one, a, _ in expected if a]


async def test_chunks_follow_one_another_by_id_and_end_with_an_empty_one(desk: Desk) -> None:
    ids = [desk.add(poster_url=f"https://img.test/{n}.jpg", title_japanese="蔵" * (n % 2)) for n in range(250)]
    read, chunks, after = desk.database.read_blocking, [], 0
    while chunk := read(lambda conn, after=after: get_metadata_to_sync(conn, after=after)):  # type: ignore[misc]
        chunks.append([record.id for record in chunk])
        after = chunk[-1].id
    assert [len(chunk) for chunk in chunks] == [100, 100, 50]
    assert [one for chunk in chunks for one in chunk] == ids


async def test_deciding_that_nothing_is_to_be_done_reads_two_indexes(desk: Desk, url: str, tmp_path: Path) -> None:
    desk.database.write_blocking(lambda conn: conn.run(FILL.format(numbers=NUMBERS[conn.dialect])))
    assert desk.database.read_blocking(get_metadata_to_sync) == []
    statement = pending._SQL.to_sync.text(desk.database.dialect)
    values = {"after": 0, "limit": 100, "ids": 1, "cool_down": WEEK * 1_000_000, "now": desk.clock.now()}
    if desk.database.dialect is Dialect.SQLITE:
        raw = sqlite3.connect(tmp_path / "migrated.db")
        for analyzed in (False, True):
            if analyzed:
                raw.execute("ANALYZE")
            plan = "\n".join(detail for *_, detail in raw.execute(f"EXPLAIN QUERY PLAN {statement}", values))
            assert "SEARCH metadata USING INDEX ix_metadata_remote_poster (id>?)" in plan
            assert "SEARCH metadata USING INDEX ix_metadata_without_tmdb (tmdb_lookup_at=? AND id>?)" in plan
            assert "SEARCH metadata USING INDEX ix_metadata_without_tmdb (tmdb_lookup_at<?)" in plan
            assert "SCAN metadata" not in plan
        raw.close()
        return
    with psycopg.connect(url, autocommit=True) as postgres:
        postgres.execute("VACUUM ANALYZE metadata")
        text = f"EXPLAIN (ANALYZE, FORMAT TEXT) {for_postgres(statement, server_clock=False)}"
        plan = "\n".join(line for (line,) in postgres.execute(text.encode(), values).fetchall())
    assert plan.count("Index Only Scan using ix_metadata_remote_poster") == 1
    assert plan.count("Index Only Scan using ix_metadata_without_tmdb") == 2
    assert plan.count("Heap Fetches: 0") == 3


async def test_what_a_sync_asks_for_is_found_through_indexes(desk: Desk, tmp_path: Path) -> None:
    if desk.database.dialect is not Dialect.SQLITE:
        pytest.skip("PostgreSQL chooses by its statistics")
    raw = sqlite3.connect(tmp_path / "migrated.db")
    values = {"after": 0, "limit": 100, "ids": 1, "cool_down": WEEK * 1_000_000, "now": desk.clock.now()}
    for queries, index, asked_at in (
        (pending._WESTERN, "ix_metadata_western", "tmdb_lookup_at"),
        (pending._POSTERS, "ix_metadata_without_poster", "poster_lookup_at"),
    ):
        text = queries.chunk.text(desk.database.dialect)
        plan = "\n".join(detail for *_, detail in raw.execute(f"EXPLAIN QUERY PLAN {text}", values))
        assert f"SEARCH metadata USING INDEX {index} ({asked_at}=? AND id>?)" in plan.replace("COVERING ", "")
        assert f"SEARCH metadata USING INDEX {index} ({asked_at}<?)" in plan.replace("COVERING ", "")
    raw.close()


async def test_without_a_key_a_poster_that_only_tmdb_has_is_neither_counted_nor_spent(
    make_desk: Callable[..., Desk], world: World
) -> None:
    off = make_desk(key=None)
    one = off.add(title_japanese="蔵", tmdb_id=7)
    assert (await off.sync())["records"] == 0
    assert off.get(one).poster_lookup_at is None
    assert off.database.read_blocking(lambda conn: pending.count_work(conn, ids=False)) == 0
    on = make_desk()
    assert (await on.sync())["records"] == 1
    assert on.get(one).poster_lookup_at is not None
    # Its story, which is asked for with its parts, may be on its way by now.
    assert sum(path.startswith("/3/tv/7") and "append_to_response" not in path for path in world.asked) == 1


async def test_a_poster_is_kept_only_for_the_url_that_was_asked_for(desk: Desk) -> None:
    one = desk.add(poster_url="https://img.test/old.jpg")

    def other_meanwhile(conn: Connection) -> bool:
        records.change(conn, one, {"poster_url": "https://img.test/new.jpg"})
        return pending.keep_poster(conn, one, "https://img.test/old.jpg", "/posters/old.jpg")

    assert not desk.database.write_blocking(other_meanwhile)
    assert desk.poster(one) == "https://img.test/new.jpg"


async def test_a_lookup_is_spent_whatever_it_found_and_a_new_title_gives_another(desk: Desk) -> None:
    one = desk.add(title_japanese="蔵", year=2020)
    maybe = RecordCandidate(5, TmdbKind.TV, "蔵", 2019, True, season=2)
    record = desk.get(one)
    desk.database.write_blocking(lambda conn: pending.keep_lookup(conn, record, Lookup(candidates=(maybe,))))
    assert desk.get(one).candidates == (maybe,)
    assert desk.get(one).tmdb_lookup_at == to_datetime(desk.clock.now())
    assert desk.database.read_blocking(get_metadata_to_sync) == []
    desk.database.write_blocking(lambda conn: records.change(conn, one, {"summary": "about a storehouse"}))
    assert desk.database.read_blocking(get_metadata_to_sync) == []
    desk.database.write_blocking(lambda conn: records.change(conn, one, {"title_japanese": "蔵の夜"}))
    assert [again.id for again in desk.database.read_blocking(get_metadata_to_sync)] == [one]
    # What was found for the old title does not belong to the new one.
    assert not desk.database.write_blocking(lambda conn: pending.keep_lookup(conn, record, Lookup(9, TmdbKind.TV)))
    assert desk.get(one).details.tmdb_id is None


async def test_ids_are_added_to_a_record_and_never_taken_from_another(desk: Desk) -> None:
    first, second = desk.add(title_japanese="蔵", bgm_id=1), desk.add(title_japanese="蔵", mal_id=3)
    record = desk.get(second)
    ids = Ids(bgm_id=1, mal_id=4, anidb_id=5)
    assert desk.database.write_blocking(lambda conn: pending.keep_ids(conn, [(record, ids)])) == 1
    details = desk.get(second).details
    assert (details.bgm_id, details.mal_id, details.anidb_id) == (None, 3, 5)
    with pytest.raises(MetadataConflict, match="bgm_id"):
        desk.add(title_japanese="other", bgm_id=1)
    with pytest.raises(MetadataConflict):
        desk.database.write_blocking(lambda conn: records.change(conn, second, {"bgm_id": 1}))
    assert desk.get(first).details.bgm_id == 1


async def test_records_are_found_by_a_part_of_any_title_and_by_year(desk: Desk) -> None:
    def found(**by: Any) -> list[int]:
        rows = desk.database.read_blocking(lambda conn: records.page(conn, after=0, limit=10, **by))
        return [record.id for record in rows]

    one = desk.add(title_japanese="蔵の夜", title_english="Night 100%", year=2020, kind=RecordKind.MOVIE)
    two = desk.add(title_chinese="藏夜", year=2021)
    assert found() == [one, two]
    assert found(contains="の夜") == [one]
    assert found(contains="夜") == [one, two]
    assert found(contains="night 100%") == [one]
    assert found(contains="%") == [one]
    assert found(contains="_") == []
    assert found(year=2021) == [two]
    desk.database.write_blocking(lambda conn: records.forget(conn, one))
    with pytest.raises(MetadataNotFound):
        desk.get(one)
    with pytest.raises(MetadataNotFound):
        desk.database.write_blocking(lambda conn: records.forget(conn, one))
    assert timedelta(0) <= desk.get(two).updated_at - desk.get(two).created_at

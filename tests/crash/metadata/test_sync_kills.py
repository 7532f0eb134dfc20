"""A sync that is killed at any moment goes on at the next start; no half poster is there to be served, no page is read twice."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.support.commands import Command

from kurabito.db import Connection, Database, migrate, open_database
from kurabito.db.migrate import PRODUCT, RUNTIME
from kurabito.metadata import records
from kurabito.metadata.records import Details, TmdbKind

HERE = Path(__file__).parent
WORLD = HERE.parents[1] / "integration" / "metadata" / "world.py"
LATENCY = 0.03
RECORDS = 30
"""For each kill."""
YEAR = 2021
TITLED = 10
"""Every so many records have a title, and need an id."""
TOLD = 6
"""Requests for what is told of a record: where its poster is, its details in four languages, and one more after a kill."""
AT_ONCE = 5
"""Requests that a kill can catch."""


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("where", "kills"),
    [
        pytest.param("sqlite", 20, id="sqlite"),
        pytest.param("postgres", 5, id="postgres"),
        pytest.param("sqlite", 300, id="sqlite-300", marks=pytest.mark.soak),
        pytest.param("postgres", 300, id="postgres-300", marks=pytest.mark.soak),
    ],
)
def test_a_killed_sync_goes_on_and_no_poster_is_half(
    request: pytest.FixtureRequest, tmp_path: Path, where: str, kills: int
) -> None:
    url = f"sqlite:///{tmp_path / 'some.db'}" if where == "sqlite" else request.getfixturevalue("migrated_postgres")
    count = kills * RECORDS
    database = open_database(url)
    database.open()
    migrate(database, RUNTIME)
    migrate(database, PRODUCT)
    folder, chance = tmp_path / "posters", random.Random(kills)
    world = [sys.executable, str(WORLD), "--latency", str(LATENCY)]
    program = [sys.executable, str(HERE / "sync_program.py"), url, str(folder)]
    with Command(world, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as services:
        assert services.stdout is not None
        there = f"http://127.0.0.1:{int(services.stdout.readline())}"
        wanted = {f"{there}/pic/{number}.jpg": f"/pic/{number}.jpg".encode() for number in range(count)}
        titles = _titles()
        database.write_blocking(lambda conn: _add(conn, list(wanted), list(titles)))
        backdrops = {f"{there}/backdrop{number}.jpg": f"/backdrop{number}.jpg".encode() for number in titles.values()}
        pictures = {**wanted, **backdrops}
        whole = {_name(address): b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + path * 500 for address, path in pictures.items()}
        with Command([*program, there], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as runs:
            ended = [
                _run(runs, chance.uniform(0.02, 0.35)) for _ in range(kills) if _check(database, folder, whole, count)
            ]
            while _run(runs, None) != "left":
                pass
            assert runs.stdin is not None
            runs.stdin.close()
        assert services.stdin is not None
        services.stdin.close()
        asked = dict(ast.literal_eval(services.stdout.read()))
    assert ended.count("killed") >= kills * 3 // 4
    assert _check(database, folder, whole, count)
    kept = database.read_blocking(lambda conn: records.page(conn, after=0, limit=count + 1))
    assert [record.details.poster_url for record in kept] == [f"/posters/{_name(address)}.jpg" for address in wanted]
    titled = [record.details for record in kept if record.details.title_japanese]
    assert len(titled) == count // TITLED
    shown = {f"{there}/backdrop{details.tmdb_id}.jpg" for details in titled}
    assert {path.name for path in folder.iterdir()} == {f"{_name(address)}.jpg" for address in (*wanted, *shown)}
    assert [details.tmdb_id for details in titled] == [titles[details.title_japanese or ""] for details in titled]
    pages = database.read_blocking(lambda conn: conn.value("SELECT count(*) FROM tmdb_pages"))
    # What was under way when a process was killed is asked for again, and nothing else.
    assert pages <= asked["3"] <= pages + AT_ONCE * kills + TOLD * (len(titled) + kills)
    database.close()


SHOWS = 5
"""For each kill."""


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("where", "kills"),
    [
        pytest.param("sqlite", 10, id="sqlite"),
        pytest.param("postgres", 3, id="postgres"),
        pytest.param("sqlite", 200, id="sqlite-200", marks=pytest.mark.soak),
    ],
)
def test_what_is_told_of_a_record_is_there_whole_or_not_at_all(
    request: pytest.FixtureRequest, tmp_path: Path, where: str, kills: int
) -> None:
    url = f"sqlite:///{tmp_path / 'some.db'}" if where == "sqlite" else request.getfixturevalue("migrated_postgres")
    database = open_database(url)
    database.open()
    migrate(database, RUNTIME)
    migrate(database, PRODUCT)
    count, folder, chance = kills * SHOWS, tmp_path / "posters", random.Random(kills)
    shows = range(1000, 1000 + count)
    database.write_blocking(lambda conn: [records.add(conn, _of_show(number)) for number in shows])
    with Command(
        [sys.executable, str(WORLD), "--latency", "0.01"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as services:
        assert services.stdout is not None
        there = f"http://127.0.0.1:{int(services.stdout.readline())}"
        program = [sys.executable, str(HERE / "sync_program.py"), url, str(folder), there]
        with Command(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as runs:
            ended = []
            for _ in range(kills):
                ended.append(_run(runs, chance.uniform(0.1, 0.4)))
                _check_told(database, folder)
            while _run(runs, None) != "left":
                pass
            assert runs.stdin is not None
            runs.stdin.close()
        assert services.stdin is not None
        services.stdin.close()
        asked: dict[str, int] = ast.literal_eval(services.stdout.read())
    assert ended.count("killed") >= kills * 3 // 4
    assert _check_told(database, folder) == count
    # Nothing was asked for twice but what was under way at a kill: one record, and pictures.
    assert asked["3"] <= TOLD * (count + kills)
    database.close()


def _of_show(number: int) -> Details:
    return Details(title_chinese="某", tmdb_id=number, tmdb_kind=TmdbKind.TV, tmdb_season=1)


def _check_told(database: Database, folder: Path) -> int:
    """Every record that something is told of has all of it; how many do, with their pictures."""
    sql = (
        "SELECT metadata_extras.summaries, metadata_extras.backdrop_url, episode_lists.episodes FROM metadata_extras "
        "JOIN metadata ON metadata.id = metadata_extras.metadata_id "
        "LEFT JOIN episode_lists ON episode_lists.entry = metadata.tmdb_id || '/1' AND episode_lists.source = 'tmdb'"
    )
    whole = 0
    for summaries, backdrop, episodes in database.read_blocking(lambda conn: conn.all(sql)):
        assert len(json.loads(summaries)) == 4
        assert len(json.loads(episodes)) == 3
        if backdrop.startswith("/posters/"):
            content = (folder / backdrop.removeprefix("/posters/")).read_bytes()
            assert content.startswith(b"\xff\xd8\xff\xe0")
            assert len(content) > 500 * len("/backdrop1000.jpg")
            whole += 1
    return whole


def _titles() -> dict[str, int]:
    """Shows of one year that TMDB has, and their ids there."""
    spec = importlib.util.spec_from_file_location("killed_world", WORLD)
    assert spec is not None
    assert spec.loader is not None
    made_up = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made_up
    spec.loader.exec_module(made_up)
    world = made_up.World()
    collection = made_up.populate(world, range(2020, 2023))
    began = {show.id: show.date[:4] for show in world.shows}
    known = [one for one in collection if one.season == 1 and one.truth and one.year == YEAR]
    return {one.title: one.truth for one in known if began[one.truth] == str(YEAR)}


def _add(conn: Connection, urls: list[str], titles: list[str]) -> None:
    for number, url in enumerate(urls):
        title = titles[number // TITLED % len(titles)] if number % TITLED == 0 else None
        records.add(conn, Details(title_chinese="某", title_japanese=title, year=YEAR, poster_url=url))


def _run(runs: subprocess.Popen[str], seconds: float | None) -> str:
    """Have a sync run, and kill it after so many seconds; how it ended."""
    assert runs.stdin is not None
    assert runs.stdout is not None
    runs.stdin.write("\n")
    runs.stdin.flush()
    child = int(runs.stdout.readline())
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    return runs.stdout.readline().strip()


def _check(database: Database, folder: Path, whole: dict[str, bytes], count: int) -> bool:
    """Every file that could be served is whole, and every record that names one has it."""
    there = {path.stem: path for path in folder.glob("[!.]*")}
    for name, path in there.items():
        assert path.read_bytes() == whole[name]
    rows = database.read_blocking(lambda conn: conn.all("SELECT poster_url FROM metadata"))
    assert len(rows) == count
    for (url,) in rows:
        assert not url.startswith("/posters/") or url.removeprefix("/posters/").removesuffix(".jpg") in there
    return True


def _name(url: str) -> str:
    return hashlib.sha256(url.encode()).hexdigest()[:16]

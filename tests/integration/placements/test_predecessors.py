"""Moving in: real database files of AutoBangumi in the shapes of its versions, and a Sonarr that speaks its API v3."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from kurabito.errors import InvalidInput
from kurabito.http import Outbound
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import RecordKind, TmdbKind
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import OfflineEntry
from kurabito.placements.predecessors import takeover
from kurabito.placements.predecessors.autobangumi import read_autobangumi
from kurabito.placements.predecessors.model import TheirCollection, TheirFeed, TheirShow
from kurabito.placements.predecessors.sonarr import read_sonarr

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf

# What 3.0 makes by statements of its own, and later versions by SQLAlchemy.
BANGUMI_30 = """
CREATE TABLE bangumi (id INTEGER PRIMARY KEY, official_title TEXT NOT NULL, year TEXT, title_raw TEXT NOT NULL, season INTEGER,
    season_raw TEXT, group_name TEXT, dpi TEXT, source TEXT, subtitle TEXT, eps_collect INTEGER, offset INTEGER, filter TEXT,
    rss_link TEXT, poster_link TEXT, added INTEGER, rule_name TEXT, save_path TEXT, deleted INTEGER)
"""
BANGUMI_31 = """
CREATE TABLE bangumi (id INTEGER NOT NULL, official_title VARCHAR NOT NULL, year VARCHAR, title_raw VARCHAR NOT NULL,
    season INTEGER NOT NULL, season_raw VARCHAR, group_name VARCHAR, dpi VARCHAR, source VARCHAR, subtitle VARCHAR,
    eps_collect BOOLEAN NOT NULL, offset INTEGER NOT NULL, filter VARCHAR NOT NULL, rss_link VARCHAR NOT NULL,
    poster_link VARCHAR, added BOOLEAN NOT NULL, rule_name VARCHAR, save_path VARCHAR, deleted BOOLEAN NOT NULL, PRIMARY KEY (id))
"""
OTHERS_31 = """
CREATE TABLE rssitem (id INTEGER NOT NULL, name VARCHAR, url VARCHAR NOT NULL, aggregate BOOLEAN NOT NULL,
    parser VARCHAR NOT NULL, enabled BOOLEAN NOT NULL, PRIMARY KEY (id));
CREATE INDEX ix_rssitem_url ON rssitem (url);
CREATE TABLE torrent (id INTEGER NOT NULL, bangumi_id INTEGER, rss_id INTEGER, name VARCHAR NOT NULL, url VARCHAR NOT NULL,
    homepage VARCHAR, downloaded BOOLEAN NOT NULL, PRIMARY KEY (id), FOREIGN KEY(bangumi_id) REFERENCES bangumi (id),
    FOREIGN KEY(rss_id) REFERENCES rssitem (id));
CREATE TABLE user (id INTEGER NOT NULL, username VARCHAR NOT NULL, password VARCHAR NOT NULL, PRIMARY KEY (id));
"""
TO_32 = """
CREATE TABLE schema_version (id INTEGER PRIMARY KEY, version INTEGER NOT NULL);
ALTER TABLE bangumi ADD COLUMN air_weekday INTEGER;
ALTER TABLE bangumi ADD COLUMN archived BOOLEAN DEFAULT 0;
ALTER TABLE bangumi RENAME COLUMN offset TO episode_offset;
ALTER TABLE bangumi ADD COLUMN season_offset INTEGER DEFAULT 0;
ALTER TABLE bangumi ADD COLUMN needs_review INTEGER DEFAULT 0;
ALTER TABLE bangumi ADD COLUMN title_aliases TEXT DEFAULT NULL;
"""
TO_33 = """
ALTER TABLE bangumi ADD COLUMN weekday_locked BOOLEAN DEFAULT 0;
ALTER TABLE bangumi ADD COLUMN preferred_group TEXT DEFAULT NULL;
ALTER TABLE bangumi ADD COLUMN preferred_resolution TEXT DEFAULT NULL;
ALTER TABLE bangumi ADD COLUMN episode_type TEXT DEFAULT 'episode';
CREATE TABLE movie (id INTEGER NOT NULL, official_title VARCHAR NOT NULL, title_raw VARCHAR, year INTEGER, group_name VARCHAR,
    dpi VARCHAR, source VARCHAR, subtitle VARCHAR, poster_link VARCHAR, rss_link VARCHAR, added BOOLEAN NOT NULL,
    deleted BOOLEAN NOT NULL, save_path VARCHAR, rule_name VARCHAR, filter VARCHAR NOT NULL, PRIMARY KEY (id));
INSERT INTO movie (id, official_title, title_raw, year, rss_link, added, deleted, save_path, filter)
VALUES (1, '藏人剧场版', 'Kurabito the Movie', 2022, 'https://mikanani.me/RSS/3', 1, 0, '/downloads/Movie/藏人剧场版 (2022)', ''),
       (2, 'Deleted', NULL, NULL, NULL, 0, 1, NULL, '');
"""
ADD = (
    "INSERT INTO bangumi (id, official_title, year, title_raw, season, eps_collect, {offset}, filter, rss_link, added, rule_name, "
    "save_path, deleted) VALUES (?, ?, ?, ?, ?, 0, ?, '720,\\d+-\\d+', ?, 1, ?, ?, ?)"
)
SHOWS = (
    (1, "藏人之夜", "2020", "Yoru no Kurabito", 1, 0, "https://mikanani.me/RSS/1", "[Kura] 藏人之夜 S1", "/downloads/Bangumi/藏人之夜 (2020)/Season 1", 0),
    (2, "藏人之夜", "2020", "Yoru no Kurabito S2", 2, -12, "https://mikanani.me/RSS/1,https://mikanani.me/RSS/2", None, None, 0),
    (3, "Deleted", None, "Deleted", 1, 0, "", None, None, 1),
)  # fmt: skip


def make(path: Path, version: str) -> Path:
    """A database as that version makes it."""
    with closing(sqlite3.connect(path)) as raw:
        raw.executescript(BANGUMI_30 if version == "3.0" else BANGUMI_31 + ";" + OTHERS_31)
        raw.executemany(ADD.format(offset="offset"), SHOWS)
        if version != "3.0":
            raw.execute("INSERT INTO rssitem VALUES (1, 'Mikan', 'https://mikanani.me/RSS/all?token=x', 1, 'mikan', 1)")
            raw.execute("INSERT INTO torrent VALUES (1, 1, 1, 'a - 01', 'https://x/1.torrent', NULL, 1)")
            raw.execute("INSERT INTO torrent VALUES (2, 1, 1, 'a - 02', 'https://x/2.torrent', NULL, 0)")
        if version >= "3.2":
            raw.executescript(TO_32)
            aliases = json.dumps(["Kurabito, Night", "藏人"])
            raw.execute("UPDATE bangumi SET archived = 1, title_aliases = ? WHERE id = 2", (aliases,))
        if version == "3.3":
            raw.executescript(TO_33)
            raw.execute("UPDATE bangumi SET season = 1, season_offset = 1 WHERE id = 2")
        raw.commit()
    return path


@pytest.mark.parametrize("version", ["3.0", "3.1", "3.2", "3.3"])
def test_a_database_of_autobangumi_is_read_and_left_as_it_is(tmp_path: Path, version: str) -> None:
    path = make(tmp_path / "data.db", version)
    before = sha256(path.read_bytes()).digest(), path.stat().st_mtime_ns, sorted(tmp_path.iterdir())
    theirs = read_autobangumi(path)
    assert (sha256(path.read_bytes()).digest(), path.stat().st_mtime_ns, sorted(tmp_path.iterdir())) == before
    first, second, *films = theirs.shows
    assert [(film.titles, film.year, film.is_film, film.folder) for film in films] == (
        [(("藏人剧场版", "Kurabito the Movie"), 2022, True, "/downloads/Movie/藏人剧场版 (2022)")]
        if version == "3.3"
        else []
    )
    assert (theirs.version, first.titles, first.season, first.year) == (
        version,
        ("藏人之夜", "Yoru no Kurabito"),
        1,
        2020,
    )
    assert first.folder == "/downloads/Bangumi/藏人之夜 (2020)/Season 1"
    assert first.files == (0 if version == "3.0" else 1)
    assert (second.season, second.episode_offset, second.is_wanted) == (2, 12, version < "3.2")
    assert ({"Kurabito, Night", "藏人"} <= {*second.titles}) is (version >= "3.2")
    urls = {feed.url for feed in theirs.feeds}
    assert {"https://mikanani.me/RSS/1", "https://mikanani.me/RSS/2"} <= urls
    assert ("https://mikanani.me/RSS/all?token=x" in urls) is (version != "3.0")


def test_what_stands_in_the_log_of_a_database_in_use_is_read_too(tmp_path: Path) -> None:
    path = make(tmp_path / "data.db", "3.1")
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA journal_mode = wal")
        raw.execute("INSERT INTO rssitem VALUES (2, 'New', 'https://new', 0, 'mikan', 1)")
        raw.commit()
        assert "https://new" in {feed.url for feed in read_autobangumi(path).feeds}


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\x00" + bytes(200)])
def test_what_is_no_database_of_autobangumi_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "data.db").write_bytes(content)
    with pytest.raises(InvalidInput, match="path"):
        read_autobangumi(tmp_path / "data.db")


def know(shelf: Shelf) -> None:
    entries = [
        OfflineEntry(
            title=title, kind=RecordKind.TV, language="ja", air_date=date(2020 + season, 1, 1), other_titles=names,
            ids=Ids(bgm_id=season, tmdb_id=7, tmdb_kind=TmdbKind.TV, tmdb_season=season),
        )
        for season, title, names in ((1, "蔵人の夜", ("藏人之夜",)), (2, "蔵人の夜 第2期", ("藏人之夜 第二季",)))
    ]  # fmt: skip
    shelf.database.write_blocking(lambda conn: offline.replace_entries(conn, entries))


THEIRS = TheirCollection(
    program="AutoBangumi",
    shows=(
        TheirShow(titles=("藏人之夜",), season=1),
        TheirShow(titles=("藏人之夜",), season=2, episode_offset=12),
        TheirShow(titles=("Never Heard Of",)),
    ),
    feeds=(TheirFeed("Mikan", "https://mikanani.me/RSS/1"), TheirFeed("bad", "ftp://x")),
)


def test_shows_are_taken_over_and_not_followed(shelf: Shelf) -> None:
    know(shelf)
    planned = shelf.database.read_blocking(lambda conn: takeover.plan(conn, THEIRS))
    assert [one.fate.value for one in planned] == ["matched", "matched", "unmatched"]
    assert shelf.all("SELECT count(*) FROM series") == [(0,)]
    taken = shelf.database.write_blocking(lambda conn: takeover.take_over(conn, THEIRS))
    assert [one.fate.value for one in taken] == ["matched", "matched", "unmatched"]
    assert shelf.all("SELECT season, episode_offset, state FROM series ORDER BY id") == [
        (1, 0, "ignored"), (2, 12, "ignored"), (1, 0, "ignored"),
    ]  # fmt: skip
    again = shelf.database.write_blocking(lambda conn: takeover.take_over(conn, THEIRS))
    assert [(one.fate.value, one.series_id) for one in again] == [("known", one.series_id) for one in taken]


def test_feeds_are_added_once_and_switched_off(shelf: Shelf) -> None:
    counts = [shelf.database.write_blocking(lambda conn: takeover.add_feeds(conn, THEIRS.feeds)) for _ in range(2)]
    assert counts == [1, 0]
    assert shelf.all("SELECT url, is_enabled FROM subscriptions") == [("https://mikanani.me/RSS/1", 0)]


class Sonarr(BaseHTTPRequestHandler):
    """Answers as Sonarr 4 does: camelCase, a key in a header, errors as JSON."""

    asked: ClassVar[list[str]] = []
    answers: ClassVar[dict[str, Any]] = {
        "/api/v3/system/status": {"appName": "Sonarr", "version": "4.0.14.2939", "urlBase": ""},
        "/api/v3/rootfolder": [{"id": 1, "path": "/tv/", "accessible": True, "freeSpace": 1, "unmappedFolders": []}],
        "/api/v3/series": [
            {
                "id": 1, "title": "Night of the Kurabito", "alternateTitles": [{"title": "藏人之夜", "seasonNumber": -1}],
                "sortTitle": "night kurabito", "status": "continuing", "ended": False, "year": 2021, "path": "/tv/Night of the Kurabito",
                "qualityProfileId": 1, "seasonFolder": True, "monitored": True, "tvdbId": 5, "tmdbId": 7, "seriesType": "anime",
                "seasons": [
                    {"seasonNumber": 0, "monitored": False},
                    {"seasonNumber": 1, "monitored": False, "statistics": {"episodeFileCount": 12, "episodeCount": 12, "sizeOnDisk": 1}},
                    {"seasonNumber": 2, "monitored": True, "statistics": {"episodeFileCount": 3, "episodeCount": 12, "sizeOnDisk": 1}},
                    {"seasonNumber": 3, "monitored": False, "statistics": {"episodeFileCount": 0, "episodeCount": 0, "sizeOnDisk": 0}},
                ],
            },
            {"id": 2, "title": "", "seasons": []},
        ],
    }  # fmt: skip

    def do_GET(self) -> None:
        self.asked.append(f"{self.command} {self.path}")
        answer: Any
        if self.path.startswith("/login"):
            return self._send(200, b"<html></html>", "text/html")
        if self.headers.get("X-Api-Key") != "right":
            return self._send(401, b'{"error": "Unauthorized"}')
        answer = self.answers.get(self.path)
        if answer is None:
            return self._send(404, b'{"message": "NotFound"}')
        return self._send(200, json.dumps(answer).encode())

    def _send(self, status: int, body: bytes, kind: str = "application/json; charset=utf-8") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing to say."""


@pytest.fixture(scope="module")
def sonarr() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Sonarr)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


async def test_a_sonarr_is_read_by_nothing_but_get(sonarr: str) -> None:
    async with Outbound() as outbound:
        theirs = await read_sonarr(outbound, sonarr, "right")
    assert (theirs.version, theirs.folders) == ("4.0.14.2939", ("/tv/",))
    assert [(show.season, show.files, show.is_wanted) for show in theirs.shows] == [(1, 12, False), (2, 3, True)]
    assert theirs.shows[0].titles == ("Night of the Kurabito", "藏人之夜")
    assert theirs.shows[0].tmdb_id == 7
    assert theirs.unreadable == ("series 2 has no title",)
    assert all(line.startswith("GET ") for line in Sonarr.asked)


@pytest.mark.parametrize(
    ("base", "key", "field"),
    [("", "wrong", "api_key"), ("/elsewhere", "right", "url"), ("/login", "right", "url")],
)
async def test_what_is_wrong_with_a_sonarr_is_said(sonarr: str, base: str, key: str, field: str) -> None:
    async with Outbound() as outbound:
        with pytest.raises(InvalidInput) as refused:
            await read_sonarr(outbound, sonarr + base, key)
    assert refused.value.field == field


def test_a_season_is_found_by_its_id(shelf: Shelf) -> None:
    know(shelf)
    theirs = TheirCollection(program="Sonarr", shows=(TheirShow(titles=("A Name Of Theirs",), season=2, tmdb_id=7),))
    (taken,) = shelf.database.write_blocking(lambda conn: takeover.take_over(conn, theirs))
    assert taken.fate is takeover.TakeoverFate.MATCHED
    assert shelf.all("SELECT record.bgm_id FROM series JOIN metadata AS record ON record.id = series.metadata_id") == [
        (2,)
    ]


ODD = [
    None,
    "a text",
    {"id": 1},
    {"title": "\x00", "seasons": []},
    {"title": "A season", "monitored": True, "seasons": [{"seasonNumber": "x", "monitored": True}, {"seasonNumber": 10**30}]},
    {"title": "Statistics", "seasons": [{"seasonNumber": 1, "statistics": [1]}], "alternateTitles": {"a": 1}},
    {"title": "Numbers\ud800", "year": 10**30, "tmdbId": "seven", "path": 7, "monitored": True, "seasons": 3},
]  # fmt: skip


async def test_rows_of_a_sonarr_that_make_no_sense_are_told_and_the_rest_is_taken(
    sonarr: str, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(Sonarr.answers, "/api/v3/series", ODD)
    async with Outbound() as outbound:
        theirs = await read_sonarr(outbound, sonarr, "right")
    assert [(show.titles, show.season, show.year, show.tmdb_id, show.folder) for show in theirs.shows] == [
        (("Statistics",), 1, None, None, None),
        (("Numbers",), 1, None, None, None),
    ]
    assert len(theirs.unreadable) == 5
    taken = shelf.database.write_blocking(lambda conn: takeover.take_over(conn, theirs))
    assert [one.title for one in taken] == ["Statistics", "Numbers"]


def test_rows_of_an_autobangumi_that_make_no_sense_are_told_and_the_rest_is_taken(tmp_path: Path, shelf: Shelf) -> None:
    with closing(sqlite3.connect(tmp_path / "data.db")) as raw:
        raw.execute("CREATE TABLE bangumi (id INTEGER, official_title, title_raw, season, year, offset, title_aliases)")
        raw.execute("CREATE TABLE torrent (id INTEGER)")
        rows = [
            (1, "Large", "large", 10**15, "2020", 0, None),
            (2, "Other", "other", 1, "9" * 40, -(10**17), '["\\ud800x", 7]'),
            (3, b"\xff\xfe", "\x00", 1, "2020", 0, "{"),
            (4, "Season", "season", "x", "2020", 0, None),
            (5, "Nothing said", None, None, None, None, None),
        ]
        raw.executemany("INSERT INTO bangumi VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        raw.execute("INSERT INTO torrent VALUES (1)")
        raw.commit()
    theirs = read_autobangumi(tmp_path / "data.db")
    assert [(show.titles, show.season, show.year, show.episode_offset) for show in theirs.shows] == [
        (("Other", "other", "x"), 1, None, 0),
        (("Nothing said",), 1, None, 0),
    ]
    assert len(theirs.unreadable) == 3
    taken = shelf.database.write_blocking(lambda conn: takeover.take_over(conn, theirs))
    assert [one.title for one in taken] == ["Other", "Nothing said"]

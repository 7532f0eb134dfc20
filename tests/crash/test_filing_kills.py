"""The core and data planes are killed while downloads are filed, replaced, renamed and given back: no file is harmed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from tests.crash.test_placing_kills import started
from tests.support.planes import register

from kurabito.db import Connection, Database, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.downloads import download_files
from kurabito.downloads.items import TransferFile

PROGRAM = Path(__file__).with_name("filing_program.py")
CHECKER = Path(__file__).with_name("filing_checker.py")
MOMENTS = {"core": 300, "plane": 30}
"""About so many has a turn of each, or some more: then it ends in good order."""
ACTS = ("show", "better", "undo replacement", "rename", "undo renaming")
EPISODES = 3
LIBRARY = "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'l', :path, :now, :now)"
SERIES = "INSERT INTO series (title, kind, created_at, updated_at) VALUES (:title, 'tv', :now, :now) RETURNING id"
EPISODE = """
INSERT INTO episodes (series_id, kind, number, state, created_at, updated_at)
VALUES (:series, 'tv', :number, 'downloading', :now, :now) RETURNING id
"""
KNOWN = "SELECT id FROM episodes WHERE series_id = :series AND number = :number"
LINK = """
INSERT INTO anime_links (release_key, series_id, episode_id, title, url, created_at)
VALUES (:title, :series, :episode, :title, 'magnet:', :now) RETURNING id
"""
DOWNLOAD = """
INSERT INTO downloads (link_id, status, hash, save_path, queued_at, created_at, updated_at)
VALUES (:link, 'completed', :title, :path, :now, :now, :now) RETURNING id
"""
MODES = "UPDATE library_roots SET placement_modes = :modes"
REPLACEMENT = "SELECT max(id) FROM placements WHERE replaces_path IS NOT NULL"
RENAMING = "SELECT max(id) FROM renamings WHERE undoes_id IS NULL"
# The machine is seen to be dead, and a keeper forgives how often it died.
EXPIRE = "UPDATE {table} SET lease_expires_at = :now - 1, lost_leases = 0 WHERE status = 'running'"

Ask = Callable[[dict[str, Any]], str]


class World:
    """Downloads of some shows, and the library that they go into; what the library has to have by now."""

    def __init__(self, database: Database, url: str, folder: Path, program: Ask, checker: Ask) -> None:
        self.library, self.downloads = folder / "library", folder / "downloads"
        self.killed = {"core": 0, "plane": 0}
        self.naming = "jellyfin"
        self._database, self._url, self._program, self._checker = database, url, program, checker
        self._sources: dict[str, str] = {}
        self._kept: list[str] = []
        self._releases: dict[tuple[int, int], list[str]] = {}
        """By series and number, the contents of its releases."""
        self._series: dict[int, str] = {}
        for each in (self.library, self.downloads):
            each.mkdir()
        self.write(lambda conn: conn.run(LIBRARY, {"path": str(self.library)}))

    def write(self, act: Callable[[Connection], Any]) -> Any:
        return self._database.write_blocking(act)

    def all(self, sql: str) -> list[Any]:
        return [value for (value,) in self._database.read_blocking(lambda conn: conn.all(sql))]

    def prefer(self, mode: str) -> None:
        self.write(lambda conn: conn.run(MODES, {"modes": json.dumps([mode])}))

    def download_show(self, chance: random.Random) -> None:
        """A batch of a show that the library has nothing of."""
        title = f"Storehouse {'ABCDEFGHIJ'[len(self._series) % 10]}{len(self._series) // 10}"
        series = self.write(lambda conn: conn.value(SERIES, {"title": title}))
        self._series[series] = title
        self._complete(series, f"{title} 01-03", [(number, "") for number in range(1, EPISODES + 1)], chance)

    def download_better(self, chance: random.Random) -> None:
        """A second version of an episode that has one."""
        series, number = chance.choice([one for one, found in self._releases.items() if len(found) == 1])
        self._complete(series, f"{self._series[series]} {number}v2", [(number, "v2")], chance)

    def _complete(self, series: int, name: str, files: list[tuple[int, str]], chance: random.Random) -> None:
        folder = self.downloads / name
        folder.mkdir()
        listed = []
        for number, version in files:
            path = folder / f"[Kura] {self._series[series]} - {number:02}{version} [1080p].mkv"
            content = chance.randbytes(chance.choice((1_000, 10_000, 30_000)))
            path.write_bytes(content)
            self._sources[str(path)] = sha256(content).hexdigest()
            self._releases.setdefault((series, number), []).append(self._sources[str(path)])
            listed.append(TransferFile(path.name, len(content), True, True))

        def store(conn: Connection) -> None:
            found = []
            for number, _ in files:
                where = {"series": series, "number": number}
                episode = conn.value(KNOWN, where) or conn.value(EPISODE, where)
                link = conn.value(LINK, {"series": series, "episode": episode, "title": name})
                found.append(conn.value(DOWNLOAD, {"link": link, "title": name, "path": str(folder)}))
            download_files.store(conn, dict.fromkeys(found, listed))

        self.write(store)

    def settle(self, act: str, of: Any, chance: random.Random | None) -> None:
        """Have something done, whoever dies meanwhile; without `chance` nobody does."""
        while self._dies(act, of, chance) or self._dies("plane", None, chance):
            pass
        while self._dies("file", None, chance) or self._dies("plane", None, chance):
            pass
        self._kept = sorted({content for found in self._releases.values() for content in found})

    def _dies(self, act: str, of: Any, chance: random.Random | None) -> bool:
        who = "plane" if act == "plane" else "core"
        moment = 0 if chance is None else chance.randint(1, MOMENTS[who])
        order = {"url": self._url, "root": str(self.downloads), "moment": moment, "act": act, "of": of}
        outcome = self._program(order)
        assert outcome in ("killed", "done")
        self.killed[who] += outcome == "killed"
        self.check()
        self.write(_expire)
        return outcome == "killed"

    def check(self, **end: Any) -> None:
        known = {"library": str(self.library), "sources": self._sources, "kept": self._kept}
        assert self._checker({**known, **end}) == "[]"

    def check_end(self) -> None:
        """Everything has the name that the last naming gives it, the better file is shown, and the other one is in the trash."""
        season = "Season 01/" if self.naming == "jellyfin" else ""
        end = {
            f"{self._series[series]}/{season}{self._series[series]} S01E{number:02}.mkv": found
            for (series, number), found in self._releases.items()
        }
        self.check(end=end)
        assert self.all("SELECT id FROM placements WHERE status NOT IN ('completed', 'cancelled')") == []
        assert self.all("SELECT id FROM filing_questions") == []
        assert set(self.all("SELECT DISTINCT state FROM episodes")) == {"have"}
        assert set(self.all("SELECT relative_path FROM library_files WHERE is_missing = 0")) == set(end)


def _expire(conn: Connection) -> None:
    for table in ("placements", "inspections"):
        conn.run(EXPIRE.format(table=table))


@pytest.fixture
def world(url: str, tmp_path: Path) -> Iterator[World]:
    database = open_database(url)
    database.open()
    migrate(database, PRODUCT)
    register(database)
    programs = started(PROGRAM), started(CHECKER)
    yield World(database, url, tmp_path, *map(next, programs))
    for program in programs:
        next(program, None)
    database.close()


@pytest.mark.parametrize(
    "kills", [3, pytest.param(250, marks=[pytest.mark.soak, pytest.mark.timeout(3600)])], ids=["3", "250"]
)
def test_no_kill_of_the_core_or_a_data_plane_harms_a_file(world: World, kills: int) -> None:
    chance = random.Random(f"filing {kills}")
    for turn, act in enumerate(cycle(ACTS)):
        if turn >= len(ACTS) and min(world.killed.values()) >= kills:
            break
        is_copied = turn // len(ACTS) % 2 == 0
        world.prefer("copy" if is_copied else "link")
        of: Any = None
        match act:
            case "show":
                world.download_show(chance)
            case "better":
                world.download_better(chance)
            case "undo replacement":
                (of,) = world.all(REPLACEMENT)
            case "rename":
                of = world.naming = "flat" if world.naming == "jellyfin" else "jellyfin"
            case "undo renaming":
                (of,) = world.all(RENAMING)
        world.settle("file" if act in ("show", "better") else act, of, chance)
    world.settle("rename", world.naming, None)
    world.check_end()

"""Data planes are killed at seeded random moments of placements: no file is half there, lost, doubled or left over."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.support.commands import Command
from tests.support.planes import register

from kurabito.db import Database, migrate, open_database
from kurabito.db.migrate import PRODUCT

PROGRAM = Path(__file__).with_name("placing_program.py")
CHECKER = Path(__file__).with_name("placing_checker.py")
MODES = (
    *("link", "copy", "move", "rename", "write", "move apart", "tidy", "tidy a copy"),
    *("replace", "replace as", "replace by copy", "replace by write", "undo"),
)
MOMENTS = 18
"""About so many has a placement."""
RECENT = 40
"""As many files as a kill may have met, and more."""
ADD = """
INSERT INTO placements (library_id, mode, source_root, source_path, size_bytes, target_path, content, replaces_path,
                        replaces_size_bytes, replaces_mtime_ns, trash_id, is_placed, created_at, updated_at)
VALUES (1, :mode, :root, :source, :size, :target, :content, :replaces, :old_size, :old_mtime_ns, :trash_id, :is_placed, :now,
        :now)
"""
NO_OTHER = {"replaces": None, "old_size": None, "old_mtime_ns": None, "trash_id": None}
LIBRARY = "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'l', :path, :now, :now)"
# What a keeper does who asks for it again.
AGAIN = "UPDATE placements SET status = 'pending', lost_leases = 0, retry_after = NULL WHERE status = 'failed'"


class Hall:
    """A library, a folder of downloads, another disk, and the placements between them."""

    def __init__(self, database: Database, url: str, folder: Path, disk: Path) -> None:
        self.library, self.downloads, self.disk = folder / "library", folder / "downloads", disk
        self._database = database
        self._url = url
        self.files: list[dict[str, Any]] = []
        for each in (self.library, self.downloads):
            each.mkdir()
        self.run(LIBRARY, path=str(self.library))

    def run(self, sql: str, **values: Any) -> None:
        self._database.write_blocking(lambda conn: conn.run(sql, values))

    def all(self, sql: str) -> list[tuple[Any, ...]]:
        return self._database.read_blocking(lambda conn: conn.all(sql))

    def ask(self, mode: str, chance: random.Random) -> None:
        """Want one more file placed."""
        if mode == "undo" and (replaced := self._replaced()) is not None:
            self._undo(replaced)
            return
        name = f"{len(self.files)} {mode}.mkv"
        content = chance.randbytes(chance.choice((1, 10_000, 30_000)))
        root = {"rename": self.library, "move apart": self.disk}.get(mode, self.downloads)
        is_written, is_placed = mode.endswith("write"), mode.startswith("tidy")
        source = None if is_written else root / "unsorted" / name
        if source is not None:
            source.parent.mkdir(exist_ok=True)
            source.write_bytes(content)
        target = f"Show {len(self.files) // 4}/{name}"
        old = self._old(target, mode, chance) if mode.startswith(("replace", "undo")) else None
        if is_placed and source is not None:
            self._place(source, self.library / target, is_linked=mode == "tidy")
        values = {
            "mode": (method := _method(mode, is_new=old is None)),
            "root": None if mode == "rename" or is_written else str(root),
            "source": None if source is None else f"unsorted/{name}",
            "size": len(content),
            "target": target,
            "content": content if is_written else None,
            "is_placed": int(is_placed),
        }
        wanted = {"content": sha256(content).hexdigest(), "target": str(self.library / target)}
        leaves = method in ("move", "rename")
        file = {**wanted, "source": None if source is None else str(source), "leaves": leaves}
        self._add(values, file, old)
        self.files.append(file)

    def _place(self, source: Path, target: Path, *, is_linked: bool) -> None:
        """Have the library have a file already: the same one, or one with the same content."""
        target.parent.mkdir(exist_ok=True)
        if is_linked:
            target.hardlink_to(source)
        else:
            target.write_bytes(source.read_bytes())

    def _old(self, target: str, mode: str, chance: random.Random) -> Path:
        """A file that the library has, under the same name or another."""
        old = self.library / (f"{target}.old" if mode == "replace as" else target)
        old.parent.mkdir(exist_ok=True)
        old.write_bytes(chance.randbytes(20_000))
        return old

    def _add(self, values: dict[str, Any], file: dict[str, Any], old: Path | None) -> None:
        replaces: dict[str, Any] = NO_OTHER
        if old is not None:
            trash_id, seen = uuid4().hex, old.stat()
            where = {"replaces": str(old.relative_to(self.library)), "trash_id": trash_id}
            replaces = {**where, "old_size": seen.st_size, "old_mtime_ns": seen.st_mtime_ns}
            trashed = str(self.library / ".kurabito-trash" / trash_id)
            file |= {"old": sha256(old.read_bytes()).hexdigest(), "old_path": str(old), "trashed": trashed}
        self.run(ADD, **values, **replaces)

    def _replaced(self) -> dict[str, Any] | None:
        """A file that took the place of another, and is not on its way."""
        done = {path for (path,) in self.all("SELECT target_path FROM placements WHERE status = 'completed'")}
        busy = {path for (path,) in self.all("SELECT target_path FROM placements WHERE status <> 'completed'")}
        free = {str(self.library / path) for path in done - busy}
        return next((one for one in self.files if one.get("old_path") == one["target"] and one["target"] in free), None)

    def _undo(self, file: dict[str, Any]) -> None:
        """What took the place of another goes to the trash, and the other comes back from there."""
        trashed, target = Path(file["trashed"]), Path(file["target"])
        values = {
            "mode": "move",
            "root": None,
            "source": str(trashed.relative_to(self.library)),
            "size": trashed.stat().st_size,
            "target": str(target.relative_to(self.library)),
            "content": None,
            "is_placed": 0,
        }
        stays = [] if file["leaves"] or file["source"] is None else [file["source"]]
        file |= {
            "content": file["old"],
            "source": str(trashed),
            "leaves": True,
            "stays": [*file.get("stays", ()), *stays],
        }
        self._add(values, file, target)

    def recover(self) -> None:
        """What follows the death of a data plane, and a keeper who insists."""
        self.run("UPDATE placements SET lease_expires_at = :now - 1 WHERE status = 'running'")
        self.run(AGAIN)


def _method(mode: str, *, is_new: bool) -> str:
    """The mode of the placement that does this."""
    if mode.startswith("tidy"):
        return "move"
    if mode.startswith("replace by"):
        return mode.rpartition(" ")[2]
    return mode.partition(" ")[0] if is_new else "link"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Another file system."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(folder)], check=False, capture_output=True)
    yield folder
    if mounted.returncode == 0:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def hall(url: str, tmp_path: Path, disk: Path) -> Iterator[Hall]:
    database = open_database(url)
    database.open()
    migrate(database, PRODUCT)
    register(database)
    yield Hall(database, url, tmp_path, disk)
    database.close()


def started(program: Path) -> Iterator[Callable[[dict[str, Any]], str]]:
    """A program that answers each line of JSON with a line."""
    with Command([sys.executable, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked, answers = process.stdin, process.stdout

        def ask(question: dict[str, Any]) -> str:
            asked.write(json.dumps(question) + "\n")
            asked.flush()
            return answers.readline().strip()

        yield ask
        asked.close()


@pytest.fixture
def plane() -> Iterator[Callable[[dict[str, Any]], str]]:
    yield from started(PROGRAM)


@pytest.fixture
def checker() -> Iterator[Callable[[dict[str, Any]], str]]:
    yield from started(CHECKER)


@pytest.mark.parametrize(
    "kills", [25, pytest.param(500, marks=[pytest.mark.soak, pytest.mark.timeout(3600)])], ids=["25", "500"]
)
def test_no_kill_leaves_a_file_half_there_or_lost(
    hall: Hall,
    url: str,
    plane: Callable[[dict[str, Any]], str],
    checker: Callable[[dict[str, Any]], str],
    kills: int,
) -> None:
    chance = random.Random(f"placements {kills}")

    def work(moment: int) -> str:
        return plane({"url": url, "moment": moment, "named": chance.random() < 0.5, "apart": chance.random() < 0.3})

    killed = 0
    while killed < kills:
        for _ in range(2):
            hall.ask(chance.choice(MODES), chance)
        outcome = work(chance.randint(1, 2 * MOMENTS))
        assert outcome in ("killed", "done")
        killed += outcome == "killed"
        # Those before are looked at once more at the end.
        recent = hall.files[-RECENT:] + [file for file in hall.files[:-RECENT] if file.get("stays")]
        assert checker({"files": recent}) == "[]"
        hall.recover()
    for _ in range(2):
        # The first one may find that the last kill was one too many for a placement; a keeper asks for it again.
        assert work(0) == "done"
        hall.recover()
    assert hall.all("SELECT id, status, error_code, error_facts FROM placements WHERE status <> 'completed'") == []
    folders = [str(folder) for folder in (hall.library, hall.downloads, hall.disk)]
    assert checker({"files": hall.files, "folders": folders}) == "[]"
    known = {path for (path,) in hall.all("SELECT relative_path FROM library_files WHERE is_missing = 0")}
    assert {str(hall.library / path) for path in known} == {file["target"] for file in hall.files}

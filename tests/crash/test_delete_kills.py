"""A data plane that is killed between any two touches of the disk loses nothing, and the next one finishes or undoes."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support.programs import spoken_to

from kurabito.db import Database, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.db.rights import say_control_plane
from kurabito.library.deletion import policy
from kurabito.library.deletion.plans import DeletionPlans
from kurabito.library.deletion.rules import KeepRules
from kurabito.library.deletion.trash import Trash
from kurabito.protocol.deletion import TRASH_FOLDER, DeleteMode

PROGRAM = Path(__file__).parent / "delete_program.py"
# Three groups; the last one has two names for one of its files.
CONTENTS = {
    "a/1": b"red",
    "b/1": b"red",
    "1": b"red",
    "a/2": b"green",
    "deep/er/2": b"green",
    "a/3": b"blue",
    "b/3": b"blue",
}
LINK = ("b/3", "b/3 again")


@dataclass
class Plane:
    """The program that does delete jobs, and can be told when to die."""

    process: subprocess.Popen[str]

    def work(self, database: Path, moment: int = 0) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{database} {moment}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()


@pytest.fixture(scope="module")
def plane() -> Iterator[Plane]:
    with spoken_to(PROGRAM) as process:
        yield Plane(process)


@dataclass
class Collection:
    """A library and its database in one folder, so that they can be copied together."""

    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / "files.db"

    @property
    def library(self) -> Path:
        return self.folder / "library"

    def copy(self, folder: Path) -> Collection:
        shutil.copytree(self.folder, folder)
        # A copy of a tree has no hard links.
        (folder / "library" / LINK[1]).unlink(missing_ok=True)
        if (folder / "library" / LINK[0]).exists():
            (folder / "library" / LINK[1]).hardlink_to(folder / "library" / LINK[0])
        other = Collection(folder)
        other.run("UPDATE library_roots SET root_path = ?", str(other.library))
        return other

    def run(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with sqlite3.connect(self.file) as raw:
            say_control_plane(raw)
            rows = raw.execute(sql, values).fetchall()
        raw.close()
        return rows

    def contents(self) -> Counter[bytes]:
        """Each content with the number of files that hold it, in the library and in the trash."""
        files = [path for path in self.library.rglob("*") if path.is_file() and path.suffix != ".json"]
        return Counter({path.stat().st_ino: path.read_bytes() for path in files}.values())

    def shown(self) -> dict[str, bytes]:
        """What a keeper sees, without the trash."""
        files = {str(path.relative_to(self.library)): path for path in self.library.rglob("*") if path.is_file()}
        return {name: path.read_bytes() for name, path in files.items() if TRASH_FOLDER not in name}

    def check_settled(self) -> None:
        """Nothing is half done, and the database says what is on the disk."""
        assert self.run("SELECT * FROM deletion_log WHERE state = 'intent'") == []
        held = self.run("SELECT trash_path FROM trash_entries WHERE left_at IS NULL")
        trash = self.library / TRASH_FOLDER
        lying = {f"{TRASH_FOLDER}/{path.name}" for path in trash.iterdir()} if trash.exists() else set()
        # Each has what tells of it beside it, and nothing else is left there.
        assert {name for (path,) in held for name in (path, f"{path}.json")} == lying
        known = {name for (name,) in self.run("SELECT relative_path FROM library_files WHERE is_missing = 0")}
        assert known == self.shown().keys()


def open_file(collection: Collection) -> Database:
    database = open_database(f"sqlite:///{collection.file}")
    database.open()
    return database


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """A library with duplicates, scanned and hashed."""
    collection = Collection(tmp_path_factory.mktemp("template") / "collection")
    collection.library.mkdir(parents=True)
    for age, (name, content) in enumerate(CONTENTS.items(), start=1):
        path = collection.library / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, ns=(age * 10**9, age * 10**9))
    (collection.library / LINK[1]).hardlink_to(collection.library / LINK[0])
    database = open_file(collection)
    migrate(database, PRODUCT)
    database.write_blocking(lambda conn: policy.store(conn, allowed=True))
    database.close()
    collection.run("INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'l', '', 0, 0)")
    for name, content in collection.shown().items():
        found = (collection.library / name).stat()
        collection.run(
            "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, device, inode, needs_hash, "
            "hash_algorithm, content_hash, created_at, updated_at) VALUES (1, ?, ?, ?, 1, ?, 0, 'sha256', ?, 0, 0)",
            name,
            found.st_size,
            found.st_mtime_ns,
            found.st_ino,
            hashlib.sha256(content).digest(),
        )
    return collection


def order_plan(collection: Collection, mode: DeleteMode) -> None:
    database = open_file(collection)
    plans = DeletionPlans(database, allowed=True)
    made = asyncio.run(plans.make(KeepRules(), mode=mode))
    assert made.file_count == 5
    asyncio.run(plans.apply(made.id, dry_run=False, confirm=True))
    database.close()


def order_from_trash(collection: Collection, *, purge: bool) -> None:
    database = open_file(collection)
    trash = Trash(database, days=0.0, may_purge=True)
    if purge:
        assert asyncio.run(trash.purge()).entries == 5
    else:
        for entry in asyncio.run(trash.entries()).items:
            asyncio.run(trash.restore(entry.id))
    database.close()


def every_kill(
    plane: Plane, prepared: Collection, folder: Path, check: Callable[[Collection], None]
) -> Iterator[Collection]:
    """A copy of the collection for every moment at which its job can be killed, after the kill."""
    moment = 0
    while True:
        moment += 1
        collection = prepared.copy(folder / str(moment))
        ended = plane.work(collection.file, moment)
        if ended == "done":
            break
        assert ended == "killed"
        check(collection)
        yield collection
        shutil.rmtree(collection.folder)
    assert moment > 20


def take_up_again(collection: Collection) -> None:
    """What the control plane does with a job whose worker is gone."""
    collection.run(
        "UPDATE jobs SET status = 'pending', worker_id = NULL, lease_expires_at = NULL WHERE status = 'running'"
    )


ALL = Counter({b"red": 3, b"green": 2, b"blue": 2})
KEPT = {"a/1": b"red", "a/2": b"green", "a/3": b"blue"}
EVERYTHING = CONTENTS | {LINK[1]: b"blue"}


def test_moving_to_the_trash(plane: Plane, template: Collection, tmp_path: Path) -> None:
    prepared = template.copy(tmp_path / "prepared")
    order_plan(prepared, DeleteMode.TRASH)

    def check(collection: Collection) -> None:
        assert collection.contents() == ALL
        assert KEPT.items() <= collection.shown().items()

    for collection in every_kill(plane, prepared, tmp_path, check):
        take_up_again(collection)
        assert plane.work(collection.file) == "done"
        assert collection.shown() == KEPT
        assert collection.contents() == ALL
        assert collection.run("SELECT state, count(*) FROM deletion_log GROUP BY state") == [("done", 5)]
        collection.check_settled()


@pytest.mark.parametrize("mode", [DeleteMode.TRASH, DeleteMode.HARDLINK])
def test_what_nobody_takes_up_again_is_undone_or_finished(
    plane: Plane, template: Collection, tmp_path: Path, mode: DeleteMode
) -> None:
    prepared = template.copy(tmp_path / "prepared")
    order_plan(prepared, mode)

    def check(collection: Collection) -> None:
        assert collection.contents().keys() == ALL.keys()
        assert KEPT.items() <= collection.shown().items()

    for collection in every_kill(plane, prepared, tmp_path, check):
        linked = {name for name in EVERYTHING if (collection.library / name).exists() and is_linked(collection, name)}
        collection.run("UPDATE jobs SET status = 'cancelled', lease_expires_at = NULL")
        database = open_file(collection)
        asyncio.run(Trash(database, days=30.0, may_purge=False).purge())
        database.close()
        assert plane.work(collection.file) == "done"
        check(collection)
        collection.check_settled()
        if mode is DeleteMode.TRASH:
            assert collection.contents() == ALL
        else:
            assert collection.shown() == EVERYTHING
            done = collection.run("SELECT relative_path FROM deletion_log WHERE state = 'done'")
            assert {name for (name,) in done} == linked


def is_linked(collection: Collection, name: str) -> bool:
    """Whether it is another name of a kept file."""
    path = collection.library / name
    return name not in KEPT and any(path.samefile(collection.library / kept) for kept in KEPT)


def test_replacing_by_hard_links(plane: Plane, template: Collection, tmp_path: Path) -> None:
    prepared = template.copy(tmp_path / "prepared")
    order_plan(prepared, DeleteMode.HARDLINK)

    def check(collection: Collection) -> None:
        # At no moment is any name without its content.
        assert collection.shown() == EVERYTHING

    for collection in every_kill(plane, prepared, tmp_path, check):
        take_up_again(collection)
        assert plane.work(collection.file) == "done"
        assert collection.shown() == EVERYTHING
        assert collection.contents() == Counter({b"red": 1, b"green": 1, b"blue": 1})
        assert collection.run("SELECT state, count(*) FROM deletion_log GROUP BY state") == [("done", 5)]
        collection.check_settled()


def test_restoring(plane: Plane, template: Collection, tmp_path: Path) -> None:
    prepared = template.copy(tmp_path / "prepared")
    order_plan(prepared, DeleteMode.TRASH)
    assert plane.work(prepared.file) == "done"
    order_from_trash(prepared, purge=False)

    def check(collection: Collection) -> None:
        assert collection.contents().keys() == ALL.keys()
        assert KEPT.items() <= collection.shown().items()

    for collection in every_kill(plane, prepared, tmp_path, check):
        take_up_again(collection)
        assert plane.work(collection.file) == "done"
        assert collection.shown() == EVERYTHING
        assert collection.run("SELECT count(*) FROM trash_entries WHERE left_as = 'restored'") == [(5,)]
        collection.check_settled()


def test_purging(plane: Plane, template: Collection, tmp_path: Path) -> None:
    prepared = template.copy(tmp_path / "prepared")
    order_plan(prepared, DeleteMode.TRASH)
    assert plane.work(prepared.file) == "done"
    order_from_trash(prepared, purge=True)

    def check(collection: Collection) -> None:
        assert collection.shown() == KEPT

    for collection in every_kill(plane, prepared, tmp_path, check):
        take_up_again(collection)
        assert plane.work(collection.file) == "done"
        assert collection.shown() == KEPT
        assert collection.run("SELECT count(*) FROM trash_entries WHERE left_as = 'purged'") == [(5,)]
        collection.check_settled()

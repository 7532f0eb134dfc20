"""What earlier searches learnt: the digests of files, good for as long as a file is what it was.

A database of its own in the state folder, which can be removed at any time; then everything is read once more. A row holds a
whole folder, column by column, as a walk finds it: whether anything in it changed is one comparison of bytes.

Nothing waits until the disk has it all, so a power cut may leave anything behind. Each row carries a digest of itself, and one
that is not as it was written is not believed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

from blake3 import blake3

from kurabito.errors import ConfigError, DatabaseUnavailable

FILE: Final = "dedupe.db"
DIGEST: Final = 32
FACTS: Final = 4 * 8
"""How many bytes the facts of one file take."""
UNKNOWN: Final = bytes(DIGEST)
"""Stands for a digest that was not made."""

_VERSION: Final = 2
_PAGE: Final = 64 * 1024
_TABLE: Final = """
CREATE TABLE folders (
    path     TEXT NOT NULL PRIMARY KEY,
    names    TEXT NOT NULL,
    seen     BLOB NOT NULL,
    edges    BLOB NOT NULL,
    contents BLOB NOT NULL,
    proof    BLOB NOT NULL
)
"""
_BELOW: Final = "SELECT * FROM folders WHERE path >= :folder AND path < :beyond"
_KEEP: Final = "INSERT OR REPLACE INTO folders VALUES (?, ?, ?, ?, ?, ?)"
_PATIENCE: Final = 10.0


class CachedFile(NamedTuple):
    """The files of a folder as a walk saw them."""

    names: str
    """Their names, with slashes between them."""
    facts: bytes
    """Their sizes, then their mtimes in ns, their inodes and their devices: 8 bytes for each number."""


class Digests(NamedTuple):
    """What is known of the files of a folder, in the order of their names."""

    edges: bytes
    contents: bytes

    @classmethod
    def none_of(cls, files: int) -> Digests:
        return cls(UNKNOWN * files, UNKNOWN * files)


def recall(now: CachedFile, then: CachedFile, digests: Digests) -> Digests:
    """Of the digests of a folder those of files that are still what they were."""
    if now == then:
        return digests
    known = {file: at * DIGEST for at, file in enumerate(_each(then))}
    unknown = len(digests.edges)
    padded = Digests(digests.edges + UNKNOWN, digests.contents + UNKNOWN)
    places = [known.get(file, unknown) for file in _each(now)]
    return Digests(*[b"".join([column[at : at + DIGEST] for at in places]) for column in padded])


def added_to(then: CachedFile, digests: Digests, now: CachedFile, learnt: Digests) -> tuple[CachedFile, Digests]:
    """What is known of a folder after a look at some of its files: the others are kept as they were."""
    rows = {file[0]: (file, at) for at, file in enumerate(_each(then))}
    files = len(rows)
    rows |= {file[0]: (file, files + at) for at, file in enumerate(_each(now))}
    columns = zip(*[file for file, _ in rows.values()], strict=True)
    names = "/".join(next(columns))
    facts = b"".join([int(number).to_bytes(8, "little", signed=True) for column in columns for number in column])
    both = [one + other for one, other in zip(digests, learnt, strict=True)]
    kept = [b"".join([column[at * DIGEST : (at + 1) * DIGEST] for _, at in rows.values()]) for column in both]
    return CachedFile(names, facts), Digests(*kept)


def _each(seen: CachedFile) -> Iterable[tuple[str, int, int, int, int]]:
    if not seen.facts:
        return ()
    numbers = memoryview(seen.facts).cast("q").tolist()
    names = seen.names.split("/")
    count = len(names)
    return zip(names, *[numbers[at : at + count] for at in range(0, 4 * count, count)], strict=True)


class Known:
    """The digests that are known; use it as a context."""

    def __init__(self, state: Path) -> None:
        self._file = state / FILE

    def __enter__(self) -> Self:
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as problem:
            raise ConfigError(
                f"the state folder {self._file.parent} cannot be created: {problem.strerror}; choose another with --state"
            ) from None
        with suppress(OSError):
            # A new one is for its owner alone, who may not want to tell the names of their files.
            self._file.touch(mode=0o600, exist_ok=False)
        try:
            self._database = sqlite3.connect(self._file, timeout=_PATIENCE, isolation_level=None)
            self._set_up()
        except sqlite3.Error as problem:
            raise self._damaged(problem) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    def below(self, folder: str) -> dict[str, tuple[CachedFile, Digests]]:
        """What is known of the folders below a folder, whose text ends with a slash, by their paths from there."""
        # "0" is the character after the slash.
        limits = {"folder": folder, "beyond": folder[:-1] + "0"}
        known = {}
        try:
            for path, names, facts, edges, contents, proof in self._database.execute(_BELOW, limits):
                if _proof(path, names, facts, edges, contents) == proof:
                    known[path[len(folder) :]] = CachedFile(names, facts), Digests(edges, contents)
        except sqlite3.Error as problem:
            raise self._damaged(problem) from None
        return known

    def keep(self, folder: str, known: Mapping[str, tuple[CachedFile, Digests]], gone: Iterable[str]) -> None:
        """Remember what is known of some folders below one, and forget others."""
        rows = [(folder + path, *seen, *digests) for path, (seen, digests) in known.items()]
        proven = [(*row, _proof(*row)) for row in rows]
        try:
            with self._database:
                self._database.execute("BEGIN IMMEDIATE")
                self._database.executemany("DELETE FROM folders WHERE path = ?", [(folder + path,) for path in gone])
                self._database.executemany(_KEEP, proven)
        except sqlite3.Error as problem:
            raise DatabaseUnavailable(f"cannot write to {self._file}: {problem}; is there room on the disk?") from None

    def _set_up(self) -> None:
        database = self._database
        # For a database that is new: rows are large here.
        database.execute(f"PRAGMA page_size = {_PAGE}")
        database.execute("PRAGMA synchronous = OFF")
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version != _VERSION:
            with database:
                database.execute("BEGIN IMMEDIATE")
                database.execute("DROP TABLE IF EXISTS folders")
                database.execute(_TABLE)
                database.execute(f"PRAGMA user_version = {_VERSION}")

    def _damaged(self, problem: sqlite3.Error) -> DatabaseUnavailable:
        return DatabaseUnavailable(
            f"cannot open {self._file}: {problem}; remove it (it only saves time), or choose another folder with --state"
        )


def _proof(path: str, names: str, facts: bytes, edges: bytes, contents: bytes) -> bytes:
    """A digest of a row; names have no zero in them."""
    texts = f"{path}\0{names}\0".encode("utf-8", "surrogateescape")
    return blake3(b"".join([texts, facts, edges, contents])).digest()

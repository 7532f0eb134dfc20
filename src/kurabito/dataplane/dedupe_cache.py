"""What earlier searches learnt: the digests of files, good for as long as a file is what it was.

A database of its own in the state folder, which can be removed at any time; then everything is read once more. A row holds a
whole folder, because a row for each file would take longer to load than the files take to be looked at.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from struct import Struct
from types import TracebackType
from typing import Final, Self

from kurabito.errors import ConfigError, DatabaseUnavailable

FILE: Final = "dedupe.db"
UNKNOWN: Final = bytes(32)
"""Stands for a digest that was not made."""

Facts = tuple[int, int, int, int, bytes, bytes]
"""A file as it was seen (size, mtime in ns, inode, device), and the digests of its edges and of its content."""

_FACTS: Final = Struct("<4q32s32s")
_VERSION: Final = 1
_TABLE: Final = """
CREATE TABLE folders (
    path  TEXT NOT NULL PRIMARY KEY,
    names TEXT NOT NULL,
    facts BLOB NOT NULL
)
"""
_BELOW: Final = "SELECT substr(path, :skipped), names, facts FROM folders WHERE path >= :folder AND path < :beyond"
_PATIENCE: Final = 10.0


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
        try:
            self._database = sqlite3.connect(self._file, timeout=_PATIENCE, isolation_level=None)
            self._set_up()
        except sqlite3.Error as problem:
            raise DatabaseUnavailable(
                f"cannot open {self._file}: {problem}; remove it (it only saves time), or choose another folder with --state"
            ) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    def below(self, folder: str) -> dict[str, Facts]:
        """What is known of the files below a folder, whose text ends with a slash, by their paths from there."""
        # "0" is the character after the slash.
        limits = {"folder": folder, "beyond": folder[:-1] + "0", "skipped": len(folder) + 1}
        known: dict[str, Facts] = {}
        for inner, names, facts in self._database.execute(_BELOW, limits):
            known.update(zip([inner + name for name in names.split("/")], _FACTS.iter_unpack(facts), strict=True))
        return known

    def keep(self, folder: str, known: Mapping[str, Facts], changed: Iterable[str]) -> None:
        """Remember what is known below a folder now; `changed` are the paths about which something else is known."""
        inner = {path[: path.rfind("/") + 1]: list[tuple[str, Facts]]() for path in changed}
        for path, facts in known.items():
            cut = path.rfind("/") + 1
            if (files := inner.get(path[:cut])) is not None:
                files.append((path[cut:], facts))
        rows = [
            (
                folder + path,
                "/".join([name for name, _ in files]),
                b"".join([_FACTS.pack(*facts) for _, facts in files]),
            )
            for path, files in inner.items()
        ]
        try:
            with self._database:
                self._database.execute("BEGIN IMMEDIATE")
                self._database.executemany("INSERT OR REPLACE INTO folders VALUES (?, ?, ?)", rows)
                self._database.execute("DELETE FROM folders WHERE facts = x''")
        except sqlite3.Error as problem:
            raise DatabaseUnavailable(f"cannot write to {self._file}: {problem}; is there room on the disk?") from None

    def _set_up(self) -> None:
        database = self._database
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version != _VERSION:
            with database:
                database.execute("BEGIN IMMEDIATE")
                database.execute("DROP TABLE IF EXISTS folders")
                database.execute(_TABLE)
                database.execute(f"PRAGMA user_version = {_VERSION}")

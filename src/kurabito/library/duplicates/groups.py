"""Groups of files with the same content, a page at a time."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from kurabito.db import Connection, Database, Queries
from kurabito.db.port import Row
from kurabito.errors import InvalidInput
from kurabito.protocol.enums import HashAlgorithm
from kurabito.runtime.model import Page
from kurabito.runtime.paging import BIGGEST_ID, check_limit, id_after, not_a_cursor

_HEX: Final = re.compile("[0-9a-f]+")
EVERY: Final = Queries("kurabito.library.duplicates", "groups.sql", shown="file_count > 1")
RECLAIMABLE: Final = Queries("kurabito.library.duplicates", "groups.sql", shown="copies > 1")


@dataclass(frozen=True, slots=True)
class GroupKey:
    """Which content: `blake3:` or `sha256:` and the digest in hex."""

    hash_algorithm: HashAlgorithm
    content_hash: bytes

    def __str__(self) -> str:
        return f"{self.hash_algorithm}:{self.content_hash.hex()}"

    @classmethod
    def parse(cls, text: str, field: str = "group_key") -> Self:
        """Read what `str` wrote; raises InvalidInput naming the field."""
        algorithm, _, digest = text.partition(":")
        return cls(_algorithm(algorithm, field), _digest(algorithm, digest, field))


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Files with the same content."""

    key: GroupKey
    file_count: int
    total_size_bytes: int
    copies: int
    """How many of the files take room of their own; hard links to one file are one copy."""

    @property
    def size_bytes(self) -> int:
        """The size of each."""
        return self.total_size_bytes // self.file_count

    @property
    def reclaimable_bytes(self) -> int:
        return self.size_bytes * (self.copies - 1)


@dataclass(frozen=True, slots=True)
class GroupFile:
    """One file of a group."""

    id: int
    library_id: int
    relative_path: str
    size_bytes: int
    mtime_ns: int
    device: int | None
    inode: int | None


@dataclass(frozen=True, slots=True)
class _PageStart:
    """Where a page ended: what the order goes by, and nothing else."""

    file_count: int
    total_size_bytes: int
    hash_algorithm: str
    content_hash_hex: str

    def cursor(self) -> str:
        text = json.dumps(asdict(self), separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    @classmethod
    def of(cls, group: DuplicateGroup) -> Self:
        key = group.key
        return cls(group.file_count, group.total_size_bytes, key.hash_algorithm.value, key.content_hash.hex())

    @classmethod
    def parse(cls, cursor: str) -> Self:
        try:
            padded = cursor.encode() + b"=" * (-len(cursor) % 4)
            given = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
            place = cls(**given)
        except (ValueError, TypeError, RecursionError):
            raise not_a_cursor(cursor) from None
        for name in ("file_count", "total_size_bytes"):
            number = getattr(place, name)
            if type(number) is not int or not 0 <= number <= BIGGEST_ID:
                raise InvalidInput("cursor", f"its {name} is not a count; begin again without it")
        _algorithm(place.hash_algorithm, "cursor")
        _digest(place.hash_algorithm, place.content_hash_hex, "cursor")
        return place

    def params(self) -> dict[str, Any]:
        return {
            "file_count": self.file_count,
            "total_size_bytes": self.total_size_bytes,
            "hash_algorithm": self.hash_algorithm,
            "content_hash": bytes.fromhex(self.content_hash_hex),
        }


class Duplicates:
    """The groups of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def groups(
        self, *, limit: int = 50, cursor: str | None = None, reclaimable: bool = False
    ) -> Page[DuplicateGroup]:
        """A page of groups; `reclaimable` leaves out those that are hard links to one file."""
        check_limit(limit)
        after = None if cursor is None else _PageStart.parse(cursor)
        found = await self._database.read(lambda conn: groups_after(conn, after, limit + 1, reclaimable=reclaimable))
        return Page.cut(found, limit, lambda last: _PageStart.of(last).cursor())

    async def group(self, group_key: str) -> DuplicateGroup | None:
        """The group with this key; None when its files have gone or are no duplicates any more."""
        key = GroupKey.parse(group_key)
        values = {"hash_algorithm": key.hash_algorithm.value, "content_hash": key.content_hash}
        row = await self._database.read(lambda conn: conn.one(EVERY.group_of, values))
        return None if row is None else group_of(row)

    async def files(self, group_key: str, *, limit: int = 50, cursor: str | None = None) -> Page[GroupFile]:
        """A page of the files with this content, in the order of their ids."""
        check_limit(limit)
        key, after = GroupKey.parse(group_key), id_after(cursor)
        found = await self._database.read(lambda conn: files_of(conn, key, after=after, limit=limit + 1))
        return Page.cut(found, limit, lambda last: str(last.id))


def groups_after(
    conn: Connection, after: _PageStart | None, limit: int, *, reclaimable: bool = False
) -> list[DuplicateGroup]:
    """The groups that follow a place in the order of the pages."""
    queries = RECLAIMABLE if reclaimable else EVERY
    if after is None:
        rows = conn.all(queries.first_groups, {"limit": limit})
    else:
        rows = conn.all(queries.groups_after, {**after.params(), "limit": limit})
    return [group_of(row) for row in rows]


def reclaimable_group(conn: Connection, key: GroupKey) -> DuplicateGroup | None:
    """The group with this content, if it has more than one copy."""
    row = conn.one(RECLAIMABLE.group_of, {"hash_algorithm": key.hash_algorithm, "content_hash": key.content_hash})
    return None if row is None else group_of(row)


def files_of(conn: Connection, key: GroupKey, *, after: int = 0, limit: int) -> list[GroupFile]:
    """The files of a group with larger ids than `after`."""
    values = {"hash_algorithm": key.hash_algorithm, "content_hash": key.content_hash, "after": after, "limit": limit}
    return [GroupFile(*row) for row in conn.all(EVERY.files_of_group, values)]


def group_of(row: Row) -> DuplicateGroup:
    """A group as its row says."""
    file_count, total_size_bytes, algorithm, digest, copies = row
    return DuplicateGroup(GroupKey(HashAlgorithm(algorithm), bytes(digest)), file_count, int(total_size_bytes), copies)


def _algorithm(text: object, field: str) -> HashAlgorithm:
    try:
        return HashAlgorithm(str(text))
    except ValueError:
        raise InvalidInput(field, f"must name {' or '.join(HashAlgorithm)} as its algorithm, got {text!r}") from None


def _digest(algorithm: str, text: object, field: str) -> bytes:
    length = HashAlgorithm(algorithm).hex_length
    if not isinstance(text, str) or len(text) != length or not _HEX.fullmatch(text):
        raise InvalidInput(field, f"a {algorithm} digest is {length} lowercase hex characters")
    return bytes.fromhex(text)

"""The chunks of a library: files that follow each other, so many that a transaction takes them.

A walk gives short ones, wherever it is done; they are joined to as long ones as are wanted just then.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, NamedTuple, Self, cast

from kurabito.dataplane.files.walk import Entry, Walk, size_of

Packed = tuple[Any, ...]
"""A chunk as it goes from one process to another."""
_SEPARATOR: Final = "//"
"""Between files in one text; no path has two slashes in a row."""


class Columns(NamedTuple):
    """Many files without an object for each of them: so they go to another process and into a database.

    Files are in order: what stands at the same place of every column belongs to the same file.
    """

    paths: Sequence[str]
    sizes: Sequence[int]
    mtimes: Sequence[int]
    inodes: Sequence[int]
    devices: Sequence[int]

    @classmethod
    def of(cls, files: Sequence[Entry]) -> Self:
        """The columns of files that are there one by one."""
        return cls(*zip(*files, strict=True)) if files else cls((), (), (), (), ())

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """All files of some that follow each other."""
        return parts[0] if len(parts) == 1 else cls(*map(_chained, zip(*parts, strict=True)))

    def files(self) -> list[Entry]:
        """The files one by one."""
        return cast("list[Entry]", list(zip(*self, strict=True)))

    def pack(self) -> tuple[str, bytes]:
        """The files for another process."""
        return _SEPARATOR.join(self.paths), b"".join([array("q", numbers).tobytes() for numbers in self[1:]])

    @classmethod
    def unpack(cls, paths: str, numbers: bytes) -> Self:
        """Files that another process packed."""
        column = array("q", numbers)
        texts = paths.split(_SEPARATOR)
        count = len(texts)
        return cls(texts, *(column[begin : begin + count] for begin in range(0, len(column), count)))


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some files, in order, and what the walk met on its way to the last of them."""

    count: int
    bytes: int
    end: str
    """The path of the last file, if there is any."""
    encoded: str
    """All files in one text, if that was asked for: mostly no more is needed."""
    folders: int
    """How many folders were entered."""
    problems: list[tuple[str, OSError]]
    columns: Columns | None
    """The files otherwise."""

    @property
    def files(self) -> list[Entry]:
        """The files, one by one."""
        return decode_files(self.encoded) if self.columns is None else self.columns.files()

    @classmethod
    def without_files(cls, folders: int = 0, problems: Sequence[tuple[str, OSError]] = ()) -> Chunk:
        """What was met where no file was."""
        return cls(0, 0, "", "", folders, [*problems], None)

    @classmethod
    def met_by(cls, walk: Walk) -> Chunk:
        """What a walk met since it was asked last."""
        met = cls.without_files(walk.folders, walk.problems)
        walk.folders = 0
        walk.problems.clear()
        return met

    def pack(self) -> Packed:
        """For another process."""
        problems = [(path, problem.errno, problem.strerror) for path, problem in self.problems]
        columns = None if self.columns is None else self.columns.pack()
        return self.count, self.bytes, self.end, self.encoded, self.folders, problems, columns

    @classmethod
    def unpack(cls, packed: Packed) -> Chunk:
        """What another process made."""
        count, size, end, encoded, folders, problems, columns = packed
        known = [(path, OSError(number, message)) for path, number, message in problems]
        return cls(count, size, end, encoded, folders, known, None if columns is None else Columns.unpack(*columns))


def encode_files(seen: list[Entry]) -> str:
    """Files in one text, that no others have."""
    return _SEPARATOR.join([f"{size} {mtime} {inode} {device} {path}" for path, size, mtime, inode, device in seen])


def decode_files(text: str) -> list[Entry]:
    """The files of a text that `encode_files` made."""
    files = []
    for part in text.split(_SEPARATOR) if text else ():
        size, mtime, inode, device, path = part.split(" ", 4)
        files.append((path, int(size), int(mtime), int(inode), int(device)))
    return files


def chunks_of(walk: Walk, length: int, *, encode: bool) -> Generator[Chunk]:
    """All files of a walk, encoded as text or as columns.

    The last chunk has none: it says what the walk met behind the last file.
    """
    files: list[Entry] = []
    texts: list[str] = []
    met: list[tuple[str, OSError]] = []
    folders = 0

    def take() -> Chunk:
        nonlocal folders
        chunk = Chunk(
            count=len(files),
            bytes=sum(map(size_of, files)),
            end=files[-1][0] if files else "",
            encoded=_SEPARATOR.join(texts),
            folders=folders,
            problems=[*met],
            columns=Columns.of(files) if files and not encode else None,
        )
        folders = 0
        for done in (files, texts, met):
            done.clear()
        return chunk

    def come_to_here() -> None:
        # A walk is never in a folder that lies behind the last file it gave, so that these belong together.
        nonlocal folders
        folders, walk.folders = folders + walk.folders, 0
        met.extend(walk.problems)
        walk.problems.clear()

    for batch in walk.batches():
        come_to_here()
        begin = 0
        while begin < len(batch):
            some = batch[begin : begin + length - len(files)]
            begin += len(some)
            files += some
            if encode:
                # Right after they were made they are in the processor's cache; a whole chunk of them is not.
                texts.append(encode_files(some))
            if len(files) >= length:
                yield take()
    if files:
        yield take()
    come_to_here()
    yield take()


def gathered(pieces: Iterable[Chunk], length: Callable[[], int]) -> Iterator[Chunk]:
    """Short chunks as long ones. The last one has no files, and says what was met behind the last of them.

    What was met behind a file goes with the next one: a scan that goes on after the file meets it again.
    """
    parts: list[Chunk] = []
    behind: list[Chunk] = []
    count = 0
    for piece in pieces:
        if not piece.count:
            behind.append(piece)
            continue
        if count and count + piece.count > length():
            yield _joined(parts)
            parts, count = [], 0
        parts += [*behind, piece]
        behind, count = [], count + piece.count
        if count >= length():
            yield _joined(parts)
            parts, count = [], 0
    if parts:
        yield _joined(parts)
    yield _joined(behind)


def _joined(parts: list[Chunk]) -> Chunk:
    columns = [part.columns for part in parts if part.columns is not None]
    return Chunk(
        count=sum(part.count for part in parts),
        bytes=sum(part.bytes for part in parts),
        end=max((part.end for part in parts), default=""),
        encoded=_SEPARATOR.join([part.encoded for part in parts if part.encoded]),
        folders=sum(part.folders for part in parts),
        problems=[problem for part in parts for problem in part.problems],
        columns=Columns.joined(columns) if columns else None,
    )


def _chained(parts: Iterable[Sequence[Any]]) -> list[Any]:
    return list(chain.from_iterable(parts))

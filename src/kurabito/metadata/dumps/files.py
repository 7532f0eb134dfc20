"""Opens the file of a dump, however it is packed, and says from which project it comes. However much it unpacks to, reading ends."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from kurabito.errors import InvalidInput
from kurabito.metadata.dumps import anidb, anime_lists, archive
from kurabito.metadata.dumps.model import DumpSource, SkippedRows

Report = Callable[[int, int], object]
"""Is told how many bytes of the file were read, and how many it has."""

_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = b"PK\x03\x04"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_LOOKED_AT: Final = 1 << 16
_LARGEST: Final = 256 << 20
"""Unpacked bytes of one list; the largest real one has 70 MB."""
_LARGEST_MEMBER: Final = 8 << 30
"""Unpacked bytes of a file in a zip, which is read line by line; the largest real one has 700 MB."""
_LONGEST_LINE: Final = 4 << 20
_TAR: Final = b"ustar"
_KNOWN: Final = (
    "bangumi-data's data.json, AniDB's anime-titles.xml.gz, anime-offline-database (.json, .jsonl), "
    "Anime-Lists' anime-list.xml, and the zip of bangumi/Archive"
)

# Python has it from 3.14 on.
_zstd: Final = import_module("compression.zstd") if find_spec("compression") else None
# The error of zipfile for what is encrypted, or packed in a way that it does not know, is a RuntimeError.
_UNPACKING_ERRORS: Final = (
    OSError,
    EOFError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
    *([_zstd.ZstdError] if _zstd else ()),
)


class DumpFile(AbstractContextManager["DumpFile"]):
    """An open file and the project that it is of; raises InvalidInput when it is of none that is known."""

    def __init__(self, path: Path, report: Report = lambda _done, _total: None) -> None:
        self._opened = ExitStack()
        self._report = report
        self._size = path.stat().st_size
        self._raw = self._opened.enter_context(path.open("rb"))
        try:
            if not self._raw.seekable():
                raise InvalidInput(
                    "file", "cannot be read twice, and has to be: save it first, and import what was saved"
                )
            self._zip = self._open_zip()
            self._stream = self._unpacked()
            self._head = b"" if self._stream is None else _read(self._stream, _LOOKED_AT)
            self.source = self._recognise()
        except BaseException:
            self._opened.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._opened.close()

    def stream(self) -> IO[bytes]:
        """The unpacked content, from its beginning, once."""
        assert self._stream is not None
        return io.BufferedReader(_Bounded(self._head, self._stream, self._raw, self._report, self._size))

    def content(self) -> bytes:
        """The same, as a whole."""
        return self.stream().read()

    def lines_of(self, name: str, skipped: SkippedRows) -> Iterator[bytes]:
        """The lines of one file in the zip; none when it is not there. A line that is far too long is left out."""
        assert self._zip is not None
        if name not in self._zip.namelist():
            return
        with _member(self._zip, name) as member:
            bounded = _Bounded(b"", member, self._raw, self._report, self._size, largest=_LARGEST_MEMBER)
            yield from lines_in(io.BufferedReader(bounded), skipped)

    def _open_zip(self) -> zipfile.ZipFile | None:
        is_zip = self._raw.read(4) == _ZIP
        self._raw.seek(0)
        try:
            return self._opened.enter_context(zipfile.ZipFile(self._raw)) if is_zip else None
        except _UNPACKING_ERRORS as error:
            raise _broken(error) from None

    def _unpacked(self) -> IO[bytes] | None:
        """The one list that the file is, or that a zip holds; None when the zip holds the tables of bgm.tv."""
        if self._zip is not None:
            names = [name for name in self._zip.namelist() if name.endswith((".json", ".jsonl", ".xml"))]
            return None if len(names) != 1 else self._opened.enter_context(_member(self._zip, names[0]))
        beginning = self._raw.read(4)
        self._raw.seek(0)
        if beginning.startswith(_GZIP):
            return self._opened.enter_context(gzip.GzipFile(fileobj=self._raw))  # type: ignore[return-value]
        if beginning == _ZSTD:
            return self._opened.enter_context(_zstd_file(self._raw))
        return self._raw

    def _recognise(self) -> DumpSource:
        if self._stream is None:
            assert self._zip is not None
            if archive.SUBJECTS in self._zip.namelist():
                return DumpSource.ARCHIVE
        elif anidb.ROOT in self._head:
            return DumpSource.ANIDB
        elif anime_lists.ROOT in self._head:
            return DumpSource.ANIME_LISTS
        elif self._head[257:262] == _TAR:
            # The package of the project, which is the only one that comes so.
            return DumpSource.BANGUMI_DATA
        elif self._head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            is_database = b"anime-offline-database" in self._head or b'"animeSeason"' in self._head
            return DumpSource.OFFLINE_DATABASE if is_database else DumpSource.BANGUMI_DATA
        raise InvalidInput("file", f"is of no known project; what can be imported: {_KNOWN}")


def lines_in(stream: IO[bytes], skipped: SkippedRows) -> Iterator[bytes]:
    """The lines of a stream; one that is far too long is left out and counted."""
    number = 0
    while line := stream.readline(_LONGEST_LINE):
        number += 1
        if len(line) < _LONGEST_LINE or line.endswith(b"\n"):
            yield line
            continue
        while rest := stream.readline(_LONGEST_LINE):
            if rest.endswith(b"\n"):
                break
        skipped.note(f"line {number}", f"it has more than {_LONGEST_LINE >> 20} MB")


class _Bounded(io.RawIOBase):
    """A stream that tells how far the file was read, and ends with an error where it unpacks to too much."""

    def __init__(
        self, head: bytes, stream: IO[bytes], raw: IO[bytes], report: Report, size: int, *, largest: int = _LARGEST
    ) -> None:
        self._head = head
        self._stream = stream
        self._raw = raw
        self._report = report
        self._size = size
        self._largest = largest
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._head:
            content, self._head = self._head[: len(buffer)], self._head[len(buffer) :]
        else:
            content = _read(self._stream, len(buffer))
        self._read += len(content)
        if self._read > self._largest:
            raise InvalidInput("file", f"unpacks to more than {self._largest >> 20} MB, and is not read to its end")
        self._report(min(self._raw.tell(), self._size), self._size)
        buffer[: len(content)] = content
        return len(content)


def _member(zipped: zipfile.ZipFile, name: str) -> IO[bytes]:
    try:
        return zipped.open(name)
    except _UNPACKING_ERRORS as error:
        raise _broken(error) from None


def _read(stream: IO[bytes], most: int) -> bytes:
    try:
        return stream.read(most)
    except _UNPACKING_ERRORS as error:
        raise _broken(error) from None


def _zstd_file(raw: IO[bytes]) -> IO[bytes]:
    if _zstd is None:
        problem = "is packed with zstd, which this Python cannot unpack (3.14 can); unpack it first: zstd -d FILE"
        raise InvalidInput("file", problem)
    opened: IO[bytes] = _zstd.ZstdFile(raw)
    return opened


def _broken(error: Exception) -> InvalidInput:
    return InvalidInput("file", f"is broken: {error}; download it again")

"""Posters: fetched once, kept under a name of our own, served from here."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from kurabito.http import Limits, Outbound
from kurabito.http.errors import BadStatus, OutboundError, TimedOut, Unreachable
from kurabito.metadata.errors import (
    PosterBadStatus,
    PosterNameInvalid,
    PosterNotStored,
    PosterRefused,
    PosterUnreachable,
)
from kurabito.metadata.pending import POSTER_URL_PREFIX, is_local
from kurabito.metadata.posters.pictures import MEDIA_TYPES, picture_type

POSTER_LIMITS: Final = Limits(seconds=60.0, max_bytes=20 * 1024 * 1024, attempts=2)
_DIGITS: Final = 16
_NAME: Final = re.compile(rf"[0-9a-f]{{{_DIGITS}}}\.({'|'.join(MEDIA_TYPES)})")
_ASIDE: Final = re.compile(rf"\.({_NAME.pattern})\.old")
# The same picture in another size: /r/400/pic/… and /pic/….
_RESIZED: Final = re.compile(r"^/r/[^/]+/")


class Poster(NamedTuple):
    """A poster that is kept here."""

    path: Path
    media_type: str
    tag: str
    """Another one for another content: a name never changes what it stands for."""


class PosterService:
    """Fetches posters into one folder, which nothing else writes."""

    def __init__(
        self,
        outbound: Outbound,
        data_path: Path,
        *,
        bgm_image_host: str,
        limits: Limits = POSTER_LIMITS,
    ) -> None:
        self._outbound = outbound
        self._folder = data_path
        self._bgm_image_host = bgm_image_host.lower()
        self._limits = limits

    def prepare(self) -> None:
        """Make the folder, and remove what a crash left half done in it."""
        with _storing("prepare the folder of", self._folder):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for leftover in self._folder.glob(".*"):
                if aside := _ASIDE.fullmatch(leftover.name):
                    # It was about to be removed, and may be wanted by now.
                    leftover.rename(self._folder / aside[1])
                else:
                    leftover.unlink()

    async def download_from_url(self, url: str) -> str:
        """The path under which the poster is served, fetched first if it is not here yet; raises PosterError."""
        if is_local(url):
            return url
        url = self.normalised(url)
        name = hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
        kept = self._kept(name)
        return POSTER_URL_PREFIX + (kept or await self._fetch(url, name))

    def normalised(self, url: str) -> str:
        """The URL of the picture as bgm.tv has it, whatever size of it was named; other URLs as they are."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return url
        if self._bgm_image_host not in (parts.netloc.lower(), parts.hostname):
            return url
        return urlunsplit(parts._replace(path=_RESIZED.sub("/", parts.path)))

    def find(self, name: str) -> Poster:
        """The poster of that name; raises PosterNameInvalid for anything that is not one of ours."""
        if not self.has(name):
            raise PosterNameInvalid("no poster has that name")
        tag, _, extension = name.partition(".")
        return Poster(self._folder / name, MEDIA_TYPES[extension], tag)

    def has(self, name: str) -> bool:
        """Whether a poster of that name is kept here."""
        return _NAME.fullmatch(name) is not None and (self._folder / name).is_file()

    def names(self) -> list[str]:
        """The names of all posters that are kept here."""
        return [path.name for path in self._folder.iterdir() if _NAME.fullmatch(path.name)]

    def drop(self, name: str, *, idle_for: float) -> bool:
        """Remove a poster unless it was fetched, or found to be here, within so many seconds; whether it is gone."""
        path, aside = self._folder / name, self._folder / f".{name}.old"
        with _storing("remove", path), suppress(FileNotFoundError):
            # Aside first: a caller that wants it from now on downloads it, and one that found it before has left a mark.
            path.rename(aside)
            if time.time() - aside.stat().st_mtime < idle_for:
                aside.rename(path)
                return False
            aside.unlink()
            return True
        return False

    def _kept(self, name: str) -> str | None:
        """The file that is here under this name, whatever sort of picture it is; it is marked as wanted."""
        # A look at five names takes less time than handing it to a thread, if no path is made of them.
        beginning = f"{self._folder}/{name}"
        for extension in MEDIA_TYPES:
            if os.access(f"{beginning}.{extension}", os.F_OK):
                with suppress(OSError):
                    os.utime(f"{beginning}.{extension}")
                    return f"{name}.{extension}"
        return None

    async def _fetch(self, url: str, name: str) -> str:
        content = await self._download(url)
        extension = picture_type(content)
        if extension is None:
            raise PosterRefused("what came is no picture (JPEG, PNG, GIF, WebP or AVIF); nothing of it was kept")
        arriving = self._folder / f".{token_hex(8)}.new"
        with _storing("write", arriving):
            try:
                await _to_its_end(asyncio.to_thread(_write_safely, arriving, content))
                # Not in a thread: a download that is cancelled has either left its file or none.
                arriving.rename(self._folder / f"{name}.{extension}")
            except BaseException:
                # What cannot be removed now is removed at the next start.
                with suppress(OSError):
                    arriving.unlink(missing_ok=True)
                raise
        return f"{name}.{extension}"

    async def _download(self, url: str) -> bytes:
        try:
            reply = await self._outbound.get(url, limits=self._limits)
        except BadStatus as error:
            raise PosterBadStatus(str(error), error.answered) from error
        except (Unreachable, TimedOut) as error:
            raise PosterUnreachable(str(error)) from error
        except OutboundError as error:
            raise PosterRefused(str(error)) from error
        if reply.content_type.startswith("text/"):
            raise PosterRefused(f"what came calls itself {reply.content_type}, which is no picture; nothing was kept")
        return reply.content


async def _to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Wait for work in a thread, also when cancelled: what it writes can only be removed once it has written it."""
    writing = asyncio.ensure_future(work)
    try:
        await asyncio.shield(writing)
    except asyncio.CancelledError:
        await asyncio.wait({writing})
        raise


def _write_safely(path: Path, content: bytes) -> None:
    """Write a file so that it is whole even after the power fails."""
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _storing(operation: str, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise PosterNotStored(operation, str(path), error.strerror or str(error)) from error

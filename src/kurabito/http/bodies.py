"""Reading an answer's body without ever holding more of it than was agreed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from secrets import token_hex
from typing import Final, NamedTuple

import httpx2

from kurabito.http.errors import BadAnswer, ConnectionBroke, OutboundError, TimedOut, TooLarge
from kurabito.http.redaction import shown

ENCODINGS: Final = "gzip, deflate"
_KNOWN_ENCODINGS: Final = frozenset({"gzip", "deflate", "identity"})
_WRITTEN_AT_ONCE: Final = 256 * 1024


class Body(NamedTuple):
    """A body that was read to its end, or as far as it came."""

    content: bytes
    """Empty when it went into a file."""
    size: int
    broke: OutboundError | None = None
    """What ended it too early."""


async def unpacked_pieces(response: httpx2.Response, most: int) -> AsyncGenerator[bytes, None]:
    """The unpacked body, piece by piece; TooLarge as soon as it is known to be over `most` bytes.

    The size is looked at three times: as it was declared, as it arrives and as it is unpacked. The pieces that are
    unpacked are small, so an archive that grows a thousandfold is left at the limit, not after it.
    """
    encodings = {coding.strip().lower() for coding in response.headers.get_list("content-encoding", split_commas=True)}
    if unknown := encodings - _KNOWN_ENCODINGS - {""}:
        raise BadAnswer(f"{shown(response.url)} is packed as {', '.join(sorted(unknown))}, which was not asked for")
    declared = response.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > most:
        raise _too_large(response.url, most)
    size = 0
    try:
        async with aclosing(response.aiter_bytes()) as pieces:
            async for piece in pieces:
                size += len(piece)
                if max(size, response.num_bytes_downloaded) > most:
                    raise _too_large(response.url, most)
                yield piece
    except httpx2.DecodingError as error:
        raise BadAnswer(f"{shown(response.url)} cannot be unpacked: {error}") from None


async def collected(pieces: AsyncIterator[bytes]) -> Body:
    """The body in memory."""
    content = bytearray()
    async for piece in pieces:
        content += piece
    return Body(bytes(content), len(content))


async def collected_as_far(pieces: AsyncIterator[bytes]) -> Body:
    """The body in memory, as far as it came before the connection broke; raises what broke it if nothing came."""
    content = bytearray()
    try:
        async for piece in pieces:
            content += piece
    except (ConnectionBroke, TimedOut) as error:
        if not content:
            raise
        return Body(bytes(content), len(content), error)
    return Body(bytes(content), len(content))


async def counted(pieces: AsyncIterator[bytes], tell: Callable[[int], None]) -> AsyncGenerator[bytes, None]:
    """The same pieces, and how many bytes came with each."""
    size = 0
    async for piece in pieces:
        size += len(piece)
        tell(size)
        yield piece


def declared_size(response: httpx2.Response) -> int | None:
    """How many bytes the host says that come; None where it says nothing, or packs them."""
    declared = response.headers.get("content-length", "")
    return int(declared) if declared.isdecimal() and "content-encoding" not in response.headers else None


async def written(to: Path, pieces: AsyncIterator[bytes]) -> Body:
    """The body in the file `to`, which appears when it is whole."""
    # Beside the other file, so that it can take its place in one step.
    partial = to.with_name(f".{token_hex(8)}.part")
    try:
        size = 0
        # Threads touch the disk, as a slow one must not hold up everything else on the loop.
        with await asyncio.to_thread(partial.open, "xb") as file:
            waiting = bytearray()
            async for piece in pieces:
                waiting += piece
                if len(waiting) >= _WRITTEN_AT_ONCE:
                    size += await asyncio.to_thread(file.write, waiting)
                    waiting = bytearray()
            size += await asyncio.to_thread(file.write, waiting)
        await asyncio.to_thread(partial.replace, to)
    except BaseException:
        await asyncio.to_thread(partial.unlink, missing_ok=True)
        raise
    return Body(b"", size)


def _too_large(url: httpx2.URL, most: int) -> TooLarge:
    return TooLarge(f"{shown(url)} has more than {most:,} bytes, which is as much as is taken; nothing of it was kept")

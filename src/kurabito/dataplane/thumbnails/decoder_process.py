"""Has files decoded by a process of its own, which lives on from file to file and is killed when it takes too long."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any, Final

from kurabito.dataplane.thumbnails import decoder
from kurabito.dataplane.thumbnails.picture import (
    DecodeLimits,
    DrawnPicture,
    MediaReading,
    ThumbnailFailed,
    Wanted,
)
from kurabito.protocol.enums import MediaType
from kurabito.protocol.error_codes import ErrorCode

_LARGEST_ANSWER: Final = 256 << 20
"""More than any picture takes: a decoder that announces more is broken."""
_START: Final = 30.0
"""Seconds that a new process may take besides, to load its libraries."""

_MEMORY: Final = dict.fromkeys(("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"), str(64 << 20))
"""What a picture took is kept for the next one: to get it from the system again is a thirtieth of the work."""


class _Died(Exception):
    """The process ended before it had answered."""


class DecoderProcess:
    """One process that draws. Used by one thread; `interrupt` may be called from any."""

    def __init__(self, media_type: MediaType, limits: DecodeLimits | None = None) -> None:
        self._media_type = media_type
        self._limits = limits or DecodeLimits()
        self._conversation: socket.socket | None = None
        self._pid = 0
        # An interrupt must not hit another program that got the number of a process that has just ended.
        self._lock = threading.Lock()

    def draw(self, fd: int, wanted: Wanted) -> DrawnPicture:
        """The picture of an open file; raises ThumbnailFailed."""
        asked = {
            "media_type": wanted.media_type,
            "format": wanted.format,
            "max_dimension": wanted.max_dimension,
            "pixels": self._limits.pixels,
        }
        head, content = self._answer_to(fd, asked)
        return DrawnPicture(content, head["width"], head["height"], head["bytes_read"])

    def read_facts(self, fd: int) -> MediaReading:
        """What is in an open film or recording; raises ThumbnailFailed."""
        head, _ = self._answer_to(fd, {decoder.FACTS: True})
        return MediaReading(head[decoder.FACTS], head["bytes_read"])

    def _answer_to(self, fd: int, asked: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
        deadline = time.monotonic() + self._limits.seconds
        if self._conversation is None:
            self._start()
            deadline += _START
        try:
            return self._ask(fd, asked, deadline)
        except TimeoutError:
            self.close()
            raise ThumbnailFailed(
                ErrorCode.THUMB_TIMEOUT, f"decoding it took longer than {self._limits.seconds:g} seconds"
            ) from None
        except (_Died, OSError):
            ended = self.close()
            raise ThumbnailFailed(
                ErrorCode.THUMB_DECODER_DIED, f"the process that decoded it ended: {_cause_of(ended)}"
            ) from None

    def interrupt(self) -> None:
        """End what is being drawn at once, whatever it is."""
        with self._lock:
            if self._pid:
                os.kill(self._pid, signal.SIGKILL)

    def close(self) -> int:
        """End the process; its exit code, or the signal that ended it as a negative number. The next file starts another."""
        if self._conversation is None:
            return 0
        self._conversation.close()
        self._conversation = None
        with self._lock:
            # It may have ended already; until it is waited for its number stays its own.
            os.kill(self._pid, signal.SIGKILL)
            _, status = os.waitpid(self._pid, 0)
            self._pid = 0
        return os.waitstatus_to_exitcode(status)

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        # -P: a file in the working folder must not be taken for a module.
        command = [sys.executable, "-P", "-m", decoder.__name__, self._media_type, str(self._limits.memory)]
        self._pid = os.posix_spawn(
            sys.executable, command, {**os.environ, **_MEMORY}, file_actions=[(os.POSIX_SPAWN_DUP2, theirs.fileno(), 0)]
        )
        theirs.close()
        self._conversation = ours

    def _ask(self, fd: int, asked: Mapping[str, Any], deadline: float) -> tuple[dict[str, Any], bytes]:
        assert self._conversation is not None
        socket.send_fds(self._conversation, [json.dumps(asked).encode()], [fd])
        lengths = self._read(2 * decoder.LENGTHS, deadline)
        head_size = int.from_bytes(lengths[: decoder.LENGTHS], "big")
        size = int.from_bytes(lengths[decoder.LENGTHS :], "big")
        if head_size + size > _LARGEST_ANSWER:
            raise _Died
        head: dict[str, Any] = json.loads(self._read(head_size, deadline))
        if "code" in head:
            raise ThumbnailFailed(ErrorCode(head["code"]), head["message"])
        return head, self._read(size, deadline)

    def _read(self, size: int, deadline: float) -> bytes:
        assert self._conversation is not None
        content = bytearray()
        while len(content) < size:
            self._conversation.settimeout(max(0.001, deadline - time.monotonic()))
            part = self._conversation.recv(min(size - len(content), 1 << 20))
            if not part:
                raise _Died
            content += part
        return bytes(content)


def _cause_of(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

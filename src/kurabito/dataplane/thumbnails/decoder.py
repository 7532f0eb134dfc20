"""A process that decodes files which cannot be trusted.

It is handed a file that is already open, and hands back the picture. It is given no name of a file and cannot write any; how
much memory it may take is limited, and how much time is up to who asks, who kills it. It ends when its asker is gone.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from kurabito.dataplane.thumbnails.picture import DrawnPicture, ThumbnailFailed, Wanted
from kurabito.protocol.enums import MediaType, ThumbnailFormat
from kurabito.protocol.error_codes import ErrorCode

LENGTHS: Final = 4
"""Bytes of each of the two numbers that an answer begins with: how long its head is, and how long its picture."""
MOST_ASKED: Final = 4096
FACTS: Final = "facts"
"""Asked for, and answered, in the place of a picture."""

Draw = Callable[[int, Wanted, int], DrawnPicture]


def serve(conversation: socket.socket, media_type: MediaType, memory: int) -> None:
    """Answer until the other side is gone."""
    draw = _decoder(media_type)
    threading.Thread(target=_end_with_the_asker, args=[conversation], daemon=True).start()
    _confine(memory)
    while True:
        asked, fds, _, _ = socket.recv_fds(conversation, MOST_ASKED, 1)
        if not asked or not fds:
            return
        try:
            conversation.sendall(_answer(draw, fds[0], json.loads(asked)))
        finally:
            os.close(fds[0])


def _decoder(media_type: MediaType) -> Draw:
    # The other cores are kept busy by other processes.
    os.environ["VIPS_CONCURRENCY"] = "1"
    # What a damaged file makes it say is told by the code of the row.
    os.environ["VIPS_WARNING"] = "0"
    from kurabito.dataplane.thumbnails import image

    image.prepare()
    if media_type is MediaType.IMAGE:
        return image.draw_image
    # Before its memory is limited: what reads the tracks of a film is loaded with what draws it.
    from kurabito.dataplane.thumbnails import media_facts, video  # noqa: F401

    return video.draw_video


def _end_with_the_asker(conversation: socket.socket) -> None:
    """Leave at once when the asker is gone, also from the middle of a picture."""
    poll = select.poll()
    # That the other end is closed is reported whatever else is asked for.
    poll.register(conversation, 0)
    poll.poll()
    os._exit(0)


def _confine(memory: int) -> None:
    # Ctrl-C is for the asker, who then closes the socket.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + memory, taken + memory))


def _answer(draw: Draw, fd: int, asked: dict[str, Any]) -> bytes:
    if FACTS in asked:
        return _facts(fd)
    wanted = Wanted(MediaType(asked["media_type"]), ThumbnailFormat(asked["format"]), asked["max_dimension"])
    try:
        picture = draw(fd, wanted, asked["pixels"])
    except ThumbnailFailed as failed:
        return _packed({"code": failed.error_code, "message": str(failed)})
    except MemoryError:
        code = ErrorCode.THUMB_OUT_OF_MEMORY
        return _packed({"code": code, "message": "decoding it takes too much memory"})
    head = {"width": picture.width, "height": picture.height, "bytes_read": picture.bytes_read}
    return _packed(head, picture.content)


def _facts(fd: int) -> bytes:
    from kurabito.dataplane.thumbnails.media_facts import read_facts

    try:
        reading = read_facts(fd)
    except ThumbnailFailed as failed:
        return _packed({"code": failed.error_code, "message": str(failed)})
    except MemoryError:
        return _packed({"code": ErrorCode.THUMB_OUT_OF_MEMORY, "message": "reading it takes too much memory"})
    return _packed({FACTS: reading.facts, "bytes_read": reading.bytes_read})


def _packed(head: dict[str, Any], content: bytes = b"") -> bytes:
    text = json.dumps(head).encode()
    return len(text).to_bytes(LENGTHS, "big") + len(content).to_bytes(LENGTHS, "big") + text + content


if __name__ == "__main__":
    serve(socket.socket(fileno=0), MediaType(sys.argv[1]), int(sys.argv[2]))

"""What a plain download is called on the disk."""

from __future__ import annotations

import re
from email.message import Message
from typing import Final
from urllib.parse import unquote, urlsplit

_MOST_BYTES: Final = 200
_UNSAFE: Final = re.compile(r"[\x00-\x1f\x7f:*?\"<>|]")
_FOLDERS: Final = re.compile(r"[/\\]")


def file_name(url: str, disposition: str | None) -> str:
    """The name that the host gives, else the last part of the URL; never one that leads out of its folder.

    >>> file_name("https://example.org/a/Show%20-%2001.mkv?x=1", None)
    'Show - 01.mkv'
    >>> file_name("https://example.org/a", 'attachment; filename="../../evil.mkv"')
    'evil.mkv'
    """
    name = _from_disposition(disposition) or unquote(urlsplit(url).path)
    # Hidden files are ours: what is not whole yet is one.
    name = _UNSAFE.sub("_", _FOLDERS.split(name)[-1]).strip().lstrip(".")
    stem, dot, suffix = name.rpartition(".")
    if len(name.encode()) > _MOST_BYTES and dot and len(suffix) < 10:
        kept = stem.encode()[: _MOST_BYTES - len(suffix) - 1].decode(errors="ignore")
        return f"{kept}.{suffix}"
    return name.encode()[:_MOST_BYTES].decode(errors="ignore") or "download"


def _from_disposition(disposition: str | None) -> str | None:
    if disposition is None:
        return None
    message = Message()
    message["Content-Disposition"] = disposition
    return message.get_filename()

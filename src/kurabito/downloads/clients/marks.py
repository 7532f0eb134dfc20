"""How what we add is told apart from what the program has besides."""

from __future__ import annotations

from typing import Final

MARK: Final = "kurabito"
"""What begins the tag or label of a download of ours."""


def mark_of(instance_id: str) -> str:
    """The mark of one downloader service: two of them at one program leave each other's downloads alone.

    >>> mark_of("0f3b2c4d5e6f")
    'kurabito-0f3b2c4d'
    """
    return f"{MARK}-{instance_id[:8]}"

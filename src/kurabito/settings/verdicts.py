"""What came of trying a setting out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from kurabito.reasons import Reason


class VerdictReason(StrEnum):
    """What a test of a setting found; the value is the message's key below `setting_verdict`."""

    ANSWERED = "answered"
    """The `host` answered as it should."""
    KEY_REFUSED = "key_refused"
    FAILED = "failed"
    """It did not work; `text` says why."""
    NOTHING = "nothing"
    """There is nothing to test."""
    FOLDER_GOOD = "folder_good"
    """It can be written, has `free_bytes`, and files can be linked into every library."""
    FOLDER_OTHER_DISK = "folder_other_disk"
    """It can be written, and `libraries` are on another disk, so files are copied there: `free_bytes` are left."""
    FOLDER_UNUSABLE = "folder_unusable"
    """Nothing can be written there; `text` says why."""


class SettingVerdict(NamedTuple):
    """Whether a value does what it is for."""

    is_good: bool
    reason: Reason[Any]


Trial = Callable[[str], Awaitable[SettingVerdict]]
"""Tries a value, as it was typed; an empty one stands for what is set now."""
Trials = Mapping[str, Trial]
"""By the name of the setting."""

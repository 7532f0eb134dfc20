"""Reasons: a code and facts. They are stored as such, and made into words where a reader is, in the reader's language."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final, Generic, TypeVar

Code = TypeVar("Code", bound=StrEnum)

OTHER: Final = "other"
"""The code that each kind of reason has for a text that is not ours, or that this version does not know."""
TEXT: Final = "text"
"""The fact that has such a text."""
LONGEST_TEXT: Final = 2_000


@dataclass(frozen=True, slots=True)
class Reason(Generic[Code]):
    """Why something is as it is."""

    code: Code
    facts: Mapping[str, Any] = field(default_factory=dict)

    def stored(self) -> str:
        """The reason as a column has it."""
        return json.dumps(self.as_facts(), ensure_ascii=False)

    def as_facts(self) -> dict[str, Any]:
        """The reason as plain values, also to be a fact of another one."""
        return {"code": self.code.value, "facts": dict(self.facts)}


class InputReason(StrEnum):
    """Why a value was refused. The value is the message's key below `input`."""

    CHOICE = "choice"
    NUMBER = "number"
    """It must be from `least` to `most`."""
    TEXT = "text"
    """It must be 1 to `most` characters that can be seen."""
    INTERVAL = "interval"
    """It must be from `shortest_seconds` to `longest_seconds`."""
    SECONDS = "seconds"
    TOO_MANY = "too_many"
    """At `most` so many."""
    NONE_CHOSEN = "none_chosen"
    NAME_TAKEN = "name_taken"
    PATTERN = "pattern"
    """The pattern has a fault, which `text` says."""
    NOTHING_TO_MATCH = "nothing_to_match"
    TARGET_MISSING = "target_missing"
    TARGET_UNWANTED = "target_unwanted"
    FEED_URL = "feed_url"
    PROXY_URL = "proxy_url"
    SERVER_URL = "server_url"
    APPRISE_URL = "apprise_url"
    HOUR = "hour"
    FEED_TAKEN = "feed_taken"
    NO_SERIES = "no_series"
    NO_LIBRARY = "no_library"
    PATH_RELATIVE = "path_relative"
    PATH_NOT_TEXT = "path_not_text"
    PATH_UNUSABLE = "path_unusable"
    """The `path` cannot be opened; `text` is what the system says."""
    PATH_NO_FOLDER = "path_no_folder"
    """The `path`."""
    PATH_IN_TRASH = "path_in_trash"
    """The `path`."""
    PATH_TAKEN = "path_taken"
    """The `path` and `other` lie one in the other."""
    OUTSIDE_LIBRARIES = "outside_libraries"
    """The `path`."""
    NOTHING_PROTECTED = "nothing_protected"
    """No file is known at the `path`."""
    PATH_MAP_LINE = "path_map_line"
    """The `line` is no path map."""
    PATH_MAP_TWICE = "path_map_twice"
    PATH_NOT_WHOLE = "path_not_whole"
    """The `path`."""
    NEEDED = "needed"
    DAY = "day"
    EPISODE = "episode"
    EPISODES = "episodes"
    """They must be at most `most` numbers."""
    EPISODE_RUN = "episode_run"
    ONE_FILE = "one_file"
    SERIES_UNCLEAR = "series_unclear"
    """No series is called `name`, or several are."""
    GONE = "gone"
    """It was offered and is no more."""
    VALUE = "value"
    """The field cannot have this `value`."""
    PATTERN_LONG = "pattern_long"
    """It must have at most `most` characters."""
    CAPTURE = "capture"
    """The pattern captures nothing of these `names`."""
    NOTHING_SAID = "nothing_said"
    """A rule that neither captures a field nor gives one a value."""
    TORRENT = "torrent"
    """It is no torrent, for which `text` says why."""
    IMPORT_PLACE = "import_place"
    """It must lie in a library or below the `path`."""
    PATH_EMPTY = "path_empty"
    """The `path`."""
    PATH_UNREACHED = "path_unreached"
    """No data plane finds the `path`."""
    PATH_UNREADABLE = "path_unreadable"
    """The `path`."""
    PATH_LINK = "path_link"
    """The `path` has a symbolic link in it."""
    TOO_MANY_FILES = "too_many_files"
    """The `path` has more than `most`."""
    NOT_SCANNED = "not_scanned"
    """The library knows no file at the `path`."""


def refused(code: InputReason, **facts: Any) -> Reason[InputReason]:
    """Why a value was refused."""
    return Reason(code, facts)


def refused_interval(shortest: timedelta, longest: timedelta) -> Reason[InputReason]:
    """Why an interval was refused."""
    seconds = {"shortest_seconds": shortest.total_seconds(), "longest_seconds": longest.total_seconds()}
    return refused(InputReason.INTERVAL, **seconds)


def in_other_words(codes: type[Code], text: str) -> Reason[Code]:
    """What others say: a downloader, a user, an earlier version."""
    return Reason(codes(OTHER), {TEXT: text[:LONGEST_TEXT]})


def read_reason(codes: type[Code], stored: str | None) -> Reason[Code] | None:
    """The reason in a column. What is no reason of this version is a text of another."""
    if not stored:
        return None
    try:
        return reason_of(codes, json.loads(stored))
    except ValueError:
        return in_other_words(codes, stored)


def reason_of(codes: type[Code], values: Any) -> Reason[Code]:
    """The reason in plain values; raises ValueError when they are none of these codes'."""
    if not isinstance(values, dict) or not isinstance(values.get("facts"), dict):
        raise ValueError("a reason has a code and facts")
    return Reason(codes(str(values.get("code"))), values["facts"])

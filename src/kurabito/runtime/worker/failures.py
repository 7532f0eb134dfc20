"""What a handler raised, as text that every store can keep.

A handler may raise anything: an error whose text cannot be made, names of files that are no Unicode, a group of errors.
Nothing in here raises.
"""

from __future__ import annotations

import traceback
from pathlib import Path
from types import TracebackType
from typing import Final

ERROR_LENGTH: Final = 10_000
TRACEBACK_LENGTH: Final = 8_000
_TRACEBACK_HEAD: Final = 2_000
_FRAMES: Final = 20
_GROUP_WIDTH: Final = 10
_GROUP_DEPTH: Final = 5
_WORKER: Final = Path(__file__).parent
_OURS: Final = (str(_WORKER), str(_WORKER.parent / "outcomes.py"))
_NAME: Final = type.__dict__["__name__"]


def describe(problem: BaseException) -> str:
    """The kind of an error and its text, in one line of code's words."""
    name = _kind(problem)
    try:
        text = str.__str__(str(problem))
    except BaseException as broken:  # noqa: BLE001 - the text is made by the user's own code
        text = f"its text cannot be made: that raised {_kind(broken)}"
    return storable(f"{name}: {text}" if text else name)


def storable(text: str, longest: int = ERROR_LENGTH) -> str:
    """The end of a text as every database takes it: real Unicode, without NUL."""
    # The methods of str itself: a text may be of a class of the user's own.
    whole = str.__len__(text) <= longest
    kept = text if whole else str.__getitem__(text, slice(-longest, None))
    # Half a pair is what Python makes of a file name that is no UTF-8, and PostgreSQL's text cannot hold NUL.
    kept = str.encode(kept, "utf-8", "backslashreplace").decode().replace("\x00", "\N{REPLACEMENT CHARACTER}")
    return kept if whole else "…" + kept


def trace_of(problem: BaseException) -> str | None:
    """Where an error came from: its frames, its causes and the members of a group. None when there is nothing to tell."""
    try:
        if not _has_story(problem):
            return None
        summary = traceback.TracebackException(
            type(problem),
            problem,
            _from_the_handler_on(problem.__traceback__),
            limit=-_FRAMES,
            max_group_width=_GROUP_WIDTH,
            max_group_depth=_GROUP_DEPTH,
        )
        text = "".join(summary.format())
    except BaseException as broken:  # noqa: BLE001 - formatting runs the user's own code, too deep perhaps
        return f"the traceback cannot be made: that raised {_kind(broken)}"
    return clip_trace(text)


def clip_trace(text: str) -> str:
    """A traceback that is short enough to keep: how it began, and the end, which says what happened."""
    if len(text) > TRACEBACK_LENGTH:
        text = f"{text[:_TRACEBACK_HEAD]}\n…\n{text[-(TRACEBACK_LENGTH - _TRACEBACK_HEAD) :]}"
    return storable(text, longest=2 * TRACEBACK_LENGTH)


def _kind(problem: BaseException) -> str:
    """The name of an error's class: neither its metaclass nor a text of a class of the user's own has a say in it."""
    return str.__str__(_NAME.__get__(type(problem)))


def _has_story(problem: BaseException) -> bool:
    return (
        problem.__traceback__ is not None
        or problem.__cause__ is not None
        or problem.__context__ is not None
        or isinstance(problem, BaseExceptionGroup)
    )


def _from_the_handler_on(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames of the worker, which are the same for every handler."""
    found = trace
    while found is not None and found.tb_frame.f_code.co_filename.startswith(_OURS):
        found = found.tb_next
    return found or trace

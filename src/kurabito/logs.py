"""Structured logs that stay quiet until a program asks for them.

A module takes its logger once and says what happened as an event with values:

    log = get_logger(__name__)
    log.info("task started", task_id=task.id, attempt=1)

Without `configure` this is ordinary `logging`: a program that uses only `kurabito.runtime` decides about handlers and
levels itself, whatever it does with structlog. `kurabito serve` calls `configure`.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, Final, Literal, NamedTuple, TextIO, cast

import structlog
from structlog.typing import Processor

Format = Literal["auto", "human", "json"]

MASK: Final = "***"
_SECRET_NAME: Final = re.compile(r"key|token|password|passwd|secret|authorization|cookie", re.IGNORECASE)
# Names of ours that look like a secret and are what a reader of the log searches for.
_PUBLIC_NAMES: Final = frozenset({"unique_key", "group_key", "thumb_key", "key_id"})
_URL_PASSWORD: Final = re.compile(r"(\w://[^\s/:@]*):[^\s/]*@")
# A name of its own (token), or the last part of one (access_token, rsskey, torrent_pass, X-Amz-Signature).
_QUERY_SECRET: Final = re.compile(
    r"([?&](?:[\w.-]*(?:[_.-]|api|rss|pass|auth|user|access))?(?:key|pass|passwd|password|pwd|token|secret|auth|sig|signature|sid)"
    r"=)[^&\s\"']+",
    re.IGNORECASE,
)
_OURS: Final = "kurabito"
# What others write in our process, and a client can make them write as often as it likes.
_FOREIGN: Final = ("uvicorn", "asyncio")
_HANDLER: Final = "kurabito"


class _Logger(structlog.stdlib.BoundLogger):
    """Asks for the level before anything is built, so a debug line that is not written costs next to nothing."""

    def debug(self, event: str | None = None, *args: Any, **values: Any) -> Any:
        if self._logger.isEnabledFor(logging.DEBUG):
            return super().debug(event, *args, **values)
        return None


class _Event(dict[str, Any]):
    """An event that also reads well through a handler that knows nothing of structlog."""

    def __str__(self) -> str:
        shown = mask(self)
        values = "".join(f" {name}={value!r}" for name, value in shown.items() if name not in ("event", "exc_info"))
        return f"{shown.get('event')}{values}"


class Flood:
    """At most so many lines of a kind in a while, so that no client can fill the disk.

    if (left_out := flood.admits("refused")) is not None:
        log.info("refused", left_out=left_out)
    """

    def __init__(self, most: int = 30, seconds: float = 60.0, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._kinds: dict[str, tuple[float, int, int]] = {}

    def admits(self, kind: str) -> int | None:
        """None when a line of this kind would be one too many; else how many were left out before it."""
        now = self._clock()
        begun, written, left_out = self._kinds.get(kind, (now, 0, 0))
        if now - begun > self._seconds:
            begun, written = now, 0
        if written >= self._most:
            self._kinds[kind] = begun, written, left_out + 1
            return None
        self._kinds[kind] = begun, written + 1, 0
        return left_out


class _AgainstFlood(logging.Filter):
    """Passes on some lines of each level in a while; the first one after that says how many are missing."""

    def __init__(self) -> None:
        super().__init__()
        self._flood = Flood()

    def filter(self, record: logging.LogRecord) -> bool:
        left_out = self._flood.admits(record.levelname)
        if left_out:
            record.left_out = left_out
        return left_out is not None


class LogLine(NamedTuple):
    """One event of the log, with secrets masked."""

    moment: str
    level: str
    logger: str
    event: str
    values: str
    """The rest, as JSON."""


class RecentLog(logging.Handler):
    """Keeps the last lines of this process, so that they can be read in the page."""

    MOST: Final = 3000

    def __init__(self) -> None:
        super().__init__()
        self.set_name(_HANDLER)
        self.lines: deque[LogLine] = deque(maxlen=self.MOST)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line; one that cannot be made into one is left out."""
        try:
            values = json.loads(self.format(record))
        except (ValueError, TypeError):
            self.handleError(record)
            return
        moment, level, logger, event = (str(values.pop(name, "")) for name in ("timestamp", "level", "logger", "event"))
        rest = json.dumps(values, ensure_ascii=False) if values else ""
        self.lines.append(LogLine(moment, level, logger, event, rest))


_chosen: tuple[Format, str] | None = None
_recent: Final = RecentLog()


def recent() -> list[LogLine]:
    """The last lines of this process, the newest last; none unless `configure` was called."""
    return list(_recent.lines)


def chosen() -> tuple[Format, str] | None:
    """The format and level that `configure` was last given, for a process that is to log as this one does."""
    return _chosen


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """The logger of one module."""
    logger = structlog.wrap_logger(
        logging.getLogger(name),
        processors=[structlog.stdlib.filter_by_level, structlog.stdlib.PositionalArgumentsFormatter(), _hand_over],
        wrapper_class=_Logger,
        context_class=dict,
    )
    # Bound now: structlog's lazy stand-in would cost more than a whole filtered line at each call.
    return cast("structlog.stdlib.BoundLogger", logger.bind())


def configure(*, format: Format = "auto", level: str = "info", stream: TextIO | None = None) -> None:  # noqa: A002 - the setting's name
    """Write our logs and the web server's to stderr: for people in a terminal, else one JSON object a line."""
    global _chosen  # noqa: PLW0603 - a process has one log
    _chosen = (format, level)
    stream = stream or sys.stderr
    human = format == "human" or (format == "auto" and stream.isatty())
    formatter = _formatter(human=human, colors=human and stream.isatty() and "NO_COLOR" not in os.environ)
    _recent.setFormatter(_formatter(human=False, colors=False))
    for name in (_OURS, *_FOREIGN):
        logger = logging.getLogger(name)
        for old in [old for old in logger.handlers if old.get_name() == _HANDLER]:
            logger.removeHandler(old)
        handler = logging.StreamHandler(stream)
        handler.set_name(_HANDLER)
        handler.setFormatter(formatter)
        if name in _FOREIGN:
            handler.addFilter(_AgainstFlood())
        logger.addHandler(handler)
        logger.addHandler(_recent)
        # The web server tells of every step of its start and end; we say where we listen and when we stopped.
        quiet = name in _FOREIGN and level.upper() == "INFO"
        logger.setLevel("WARNING" if quiet else level.upper())
        # The root logger's handlers, if any, would say everything a second time.
        logger.propagate = False


def mask(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same values with secrets hidden: by their name, and passwords inside URLs."""
    return {name: _masked(name, value) for name, value in values.items()}


def mask_text(text: str) -> str:
    """The text without the passwords and keys of the URLs in it."""
    if "://" not in text and "=" not in text:
        return text
    return _QUERY_SECRET.sub(rf"\g<1>{MASK}", _URL_PASSWORD.sub(rf"\g<1>:{MASK}@", text))


def _masked(name: str, value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if _SECRET_NAME.search(name) and name not in _PUBLIC_NAMES:
        return MASK
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, Mapping):
        return mask({str(key): inner for key, inner in value.items()})
    if isinstance(value, list | tuple):
        return [_masked("", inner) for inner in value]
    if isinstance(value, BaseException):
        return mask_text(repr(value))
    return value


def _hand_over(
    logger: Any, _method: str, event: MutableMapping[str, Any]
) -> tuple[tuple[_Event], dict[str, dict[str, Any]]]:
    """What structlog's `wrap_for_formatter` does, with an event that is readable without its formatter."""
    values = _Event(event)
    kwargs: dict[str, Any] = {"extra": {"_logger": logger, "_name": _method}}
    # Left in the event for our formatter, and given to logging for anyone else's.
    if "exc_info" in values:
        kwargs["exc_info"] = values["exc_info"]
    return (values,), kwargs


def _formatter(*, human: bool, colors: bool) -> logging.Formatter:
    before: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _drop_carriers,
        _mask_event,
    ]
    last: Processor
    if human:
        last = structlog.dev.ConsoleRenderer(colors=colors)
    else:
        last = structlog.processors.JSONRenderer(default=str, ensure_ascii=False)
    return structlog.stdlib.ProcessorFormatter(
        processors=[*before, last],
        foreign_pre_chain=[structlog.stdlib.ExtraAdder()],
    )


def _drop_carriers(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Drop what the event only needed on its way through `logging`."""
    event = structlog.stdlib.ProcessorFormatter.remove_processors_meta(logger, method, event)
    # Uvicorn's second copy of its message.
    event.pop("color_message", None)
    return event


def _mask_event(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    return mask(event)

"""Cron expressions: five fields, or an alias like @daily.

    minute  hour  day of month  month  day of week
    0-59    0-23  1-31          1-12   0-7 (0 and 7 are Sunday)

A field is a list of `*`, `5`, `1-5`, with a step as in `*/15`, `10-40/10` or `5/20` (from 5 on). Months and days have
names: `jan`, `mon`. When both day fields are restricted (neither begins with `*`), a day that fits either is taken, as
every cron does.

Ticks follow the wall clock of a time zone. A tick that the clock skips in spring happens at the first moment after the
skip, and one that the clock shows twice in autumn happens the first time only. But where the hour is `*`, what is meant
is "during every hour": such a tick happens in both of the doubled hours and is not made up for in the skipped one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from kurabito.clock import from_datetime, to_datetime
from kurabito.errors import InvalidInput

ALIASES: Final[Mapping[str, str]] = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTH_NAMES: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_DAY_NAMES: Final = "sun mon tue wed thu fri sat".split()
_LONGEST_MONTHS: Final = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DAY: Final = timedelta(days=1)
_NEVER: Final = timedelta(0)


class _Field(NamedTuple):
    name: str
    least: int
    most: int
    names: Mapping[str, int]


_FIELDS: Final = (
    _Field("minute", 0, 59, {}),
    _Field("hour", 0, 23, {}),
    _Field("day of month", 1, 31, {}),
    _Field("month", 1, 12, {name: number for number, name in enumerate(_MONTH_NAMES, 1)}),
    _Field("day of week", 0, 7, {name: number for number, name in enumerate(_DAY_NAMES)}),
)


class _Fields(NamedTuple):
    """A parsed expression."""

    times: tuple[int, ...]
    """Minutes of the day, in order."""
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    """As Python counts them: Monday is 0."""
    either_day: bool
    every_hour: bool

    def has(self, day: date) -> bool:
        of_month, of_week = day.day in self.days, day.weekday() in self.weekdays
        return of_month or of_week if self.either_day else of_month and of_week


@dataclass(frozen=True, slots=True)
class Cron:
    """The ticks of a cron expression in a time zone."""

    expression: str
    tz: str = "UTC"
    _fields: _Fields = field(init=False, repr=False, compare=False)
    _zone: tzinfo = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_fields", _parse(self.expression))
        object.__setattr__(self, "_zone", _zone(self.tz))

    def __str__(self) -> str:
        return self.expression if self.tz == "UTC" else f"{self.expression} {self.tz}"

    def next(self, now_us: int) -> int:
        """The first tick after now."""
        now = to_datetime(now_us)
        # If the clock is about to be set back, it will show earlier times than now once more.
        start = self._wall(now) - max(_NEVER, self._offset(now) - self._offset(now + _DAY))
        best: int | None = None
        for wall in self._walls_from(start):
            if best is not None and self._earliest(wall) >= best:
                break
            for moment in self._moments(wall):
                if moment > now_us:
                    best = moment if best is None else min(best, moment)
        assert best is not None, "an expression that never comes true is refused when it is parsed"
        return best

    def latest(self, now_us: int) -> int:
        """The last tick at or before now."""
        now = to_datetime(now_us)
        # If the clock was just set back, it has shown later times than now already.
        start = self._wall(now) + max(_NEVER, self._offset(now - _DAY) - self._offset(now))
        best: int | None = None
        for wall in self._walls_back_from(start):
            if best is not None and self._last(wall) <= best:
                break
            for moment in self._moments(wall):
                if moment <= now_us:
                    best = moment if best is None else max(best, moment)
        assert best is not None, "an expression that never comes true is refused when it is parsed"
        return best

    def _moments(self, wall: datetime) -> list[int]:
        """When the clock's showing `wall` is a tick: once as a rule, never or twice where the clock is moved."""
        first, second = self._at(wall, 0), self._at(wall, 1)
        if first == second:
            return [first]
        doubled = first < second
        if self._fields.every_hour:
            return [first, second] if doubled else []
        return [first] if doubled else [self._end_of_gap(second, first)]

    def _earliest(self, wall: datetime) -> int:
        return min(self._at(wall, 0), self._at(wall, 1))

    def _last(self, wall: datetime) -> int:
        return max(self._at(wall, 0), self._at(wall, 1))

    def _at(self, wall: datetime, fold: int) -> int:
        """The moment at which the clock shows `wall`, by the rule before (fold 0) or after (1) a change of it."""
        return from_datetime(wall.replace(tzinfo=self._zone, fold=fold).astimezone(UTC))

    def _end_of_gap(self, before: int, after: int) -> int:
        """The moment between the two at which the clock was moved."""
        old = self._offset(to_datetime(before))
        while after - before > 1:
            middle = (before + after) // 2
            if self._offset(to_datetime(middle)) == old:
                before = middle
            else:
                after = middle
        return after

    def _wall(self, moment: datetime) -> datetime:
        return moment.astimezone(self._zone).replace(tzinfo=None, fold=0)

    def _offset(self, moment: datetime) -> timedelta:
        return moment.astimezone(self._zone).utcoffset() or _NEVER

    def _walls_from(self, start: datetime) -> Iterator[datetime]:
        """Matching times of the wall clock, from `start` on."""
        times = self._fields.times
        minute = start.hour * 60 + start.minute + (1 if start.second or start.microsecond else 0)
        for day in self._days(start.date(), forward=True):
            begin = bisect_left(times, minute) if day == start.date() else 0
            for at in times[begin:]:
                yield datetime.combine(day, time(at // 60, at % 60))

    def _walls_back_from(self, start: datetime) -> Iterator[datetime]:
        times = self._fields.times
        for day in self._days(start.date(), forward=False):
            end = bisect_right(times, start.hour * 60 + start.minute) if day == start.date() else len(times)
            for at in reversed(times[:end]):
                yield datetime.combine(day, time(at // 60, at % 60))

    def _days(self, day: date, *, forward: bool) -> Iterator[date]:
        step = _DAY if forward else -_DAY
        while True:
            if day.month not in self._fields.months:
                # To the last day of this month seen in our direction, so that the step below leaves the month.
                day = _month_end(day) if forward else day.replace(day=1)
            elif self._fields.has(day):
                yield day
            day += step


def _month_end(day: date) -> date:
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1) - _DAY


def _zone(name: str) -> tzinfo:
    # A machine without a time zone database can still keep UTC.
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError, TypeError):
        raise InvalidInput("tz", f"this machine knows no time zone {name!r}; use a name like Europe/Berlin") from None


def _parse(expression: str) -> _Fields:
    if not isinstance(expression, str):
        raise InvalidInput("expression", f"must be a text like '0 * * * *', got {expression!r}")
    text = expression.strip().lower()
    if text.startswith("@") and text not in ALIASES:
        raise InvalidInput("expression", f"{expression!r} is unknown; there are {', '.join(ALIASES)}")
    parts = ALIASES.get(text, text).split()
    if len(parts) != len(_FIELDS):
        wanted = ", ".join(part.name for part in _FIELDS)
        raise InvalidInput("expression", f"{expression!r} has {len(parts)} fields, not the five: {wanted}")
    minutes, hours, days, months, weekdays = map(_numbers, _FIELDS, parts)
    either_day = not parts[2].startswith("*") and not parts[4].startswith("*")
    if not either_day and min(days) > max(_LONGEST_MONTHS[month] for month in months):
        raise InvalidInput("day of month", f"{parts[2]} comes in none of the months {parts[3]} ({expression!r})")
    return _Fields(
        times=tuple(hour * 60 + minute for hour in sorted(hours) for minute in sorted(minutes)),
        days=days,
        months=months,
        weekdays=frozenset((number - 1) % 7 for number in weekdays),
        either_day=either_day,
        every_hour=parts[1].startswith("*") and len(hours) == 24,
    )


def _numbers(part: _Field, text: str) -> frozenset[int]:
    found: set[int] = set()
    for item in text.split(","):
        span, slash, step_text = item.partition("/")
        step = _whole(part, step_text, text) if slash else 1
        if not 1 <= step <= part.most:
            raise InvalidInput(part.name, f"a step of {step} is not between 1 and {part.most} in {text!r}")
        low, high = _span(part, span, text, open_ended=bool(slash))
        if low > high:
            raise InvalidInput(part.name, f"{span!r} goes backwards; write it as two ranges with a comma between")
        found.update(range(low, high + 1, step))
    return frozenset(found)


def _span(part: _Field, span: str, text: str, *, open_ended: bool) -> tuple[int, int]:
    sunday_once = 6 if part.most == 7 else part.most
    if span == "*":
        return part.least, sunday_once
    first, dash, last = span.partition("-")
    low = _value(part, first, text)
    if not dash:
        return low, (max(low, sunday_once) if open_ended else low)
    high = _value(part, last, text)
    # A week may be thought of as ending on Sunday: fri-sun.
    return low, (7 if part.most == 7 and high == 0 < low else high)


def _value(part: _Field, text: str, whole: str) -> int:
    number = part.names.get(text)
    if number is None:
        number = _whole(part, text, whole)
    if not part.least <= number <= part.most:
        raise InvalidInput(part.name, f"{number} is not between {part.least} and {part.most} in {whole!r}")
    return number


def _whole(part: _Field, text: str, whole: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise InvalidInput(part.name, f"{text!r} in {whole!r} is neither a number nor a known name")
    return int(text)

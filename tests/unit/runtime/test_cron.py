"""Cron expressions: what they mean, against a scan of every minute."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from kurabito.clock import from_datetime, to_datetime
from kurabito.errors import InvalidInput
from kurabito.runtime.schedules.cron import ALIASES, Cron

MINUTE = timedelta(minutes=1)


def moment(text: str) -> int:
    return from_datetime(datetime.fromisoformat(text))


def ticks(cron: Cron, start: str, count: int) -> list[str]:
    """The next ticks after `start`, as the zone's clock shows them."""
    zone = ZoneInfo(cron.tz)
    now, shown = moment(start), []
    for _ in range(count):
        now = cron.next(now)
        shown.append(to_datetime(now).astimezone(zone).strftime("%Y-%m-%d %H:%M %z"))
    return shown


# The oracle reads fields in its own simple way: it knows only numbers, ranges and steps of *.
def _fits(text: str, value: int, least: int) -> bool:
    for part in text.split(","):
        if part.startswith("*/") and (value - least) % int(part[2:]) == 0:
            return True
        low, _, high = part.partition("-")
        if part == "*" or (part[0] != "*" and int(low) <= value <= int(high or low)):
            return True
    return False


def _shows(expression: str, wall: datetime) -> bool:
    minute, hour, day, month, weekday = expression.split()
    of_month = _fits(day, wall.day, 1)
    of_week = _fits(weekday, wall.isoweekday() % 7, 0) or (wall.isoweekday() == 7 and _fits(weekday, 7, 0))
    either = day[0] != "*" and weekday[0] != "*"
    return (
        _fits(minute, wall.minute, 0)
        and _fits(hour, wall.hour, 0)
        and _fits(month, wall.month, 1)
        and (of_month or of_week if either else of_month and of_week)
    )


def _is_tick(expression: str, zone: ZoneInfo, at: datetime) -> bool:
    """Whether this minute, in UTC, is a tick: by looking at the clock, and at what it jumped over to get there."""
    wall, before = at.astimezone(zone), (at - MINUTE).astimezone(zone)
    every_hour = expression.split()[1] == "*"
    if _shows(expression, wall) and (wall.fold == 0 or every_hour):
        return True
    skipped = before.replace(tzinfo=None) + MINUTE
    while not every_hour and skipped < wall.replace(tzinfo=None):
        if _shows(expression, skipped):
            return True
        skipped += MINUTE
    return False


def scan(expression: str, zone: ZoneInfo, now: int, direction: int, minutes: int) -> int | None:
    at = to_datetime(now).replace(second=0, microsecond=0)
    if direction > 0:
        at += MINUTE
    for _ in range(minutes):
        if _is_tick(expression, zone, at):
            return from_datetime(at)
        at += MINUTE * direction
    return None


def field(least: int, most: int, *, steps: bool = True) -> st.SearchStrategy[str]:
    number = st.integers(least, most)
    span = st.tuples(number, number).map(lambda ends: f"{min(ends)}-{max(ends)}")
    single = st.one_of(number.map(str), span)
    some = st.lists(single, min_size=1, max_size=3).map(",".join)
    step = st.integers(2, max(2, most // 2)).map(lambda by: f"*/{by}")
    return st.one_of(st.just("*"), some, step) if steps else st.one_of(st.just("*"), some)


EXPRESSIONS = st.tuples(
    field(0, 59), field(0, 23), field(1, 28), st.one_of(st.just("*"), st.just("*/2")), field(0, 7, steps=False)
).map(" ".join)
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu")
# Around the nights in which these zones set their clocks, where mistakes live, and anywhere else.
CHANGES = (
    "2024-03-31T01:00Z",
    "2024-10-27T01:00Z",
    "2024-03-10T07:00Z",
    "2024-11-03T06:00Z",
    "2024-04-06T15:00Z",
    "2024-10-05T15:30Z",
    "2011-12-30T10:00Z",
)
MOMENTS = st.one_of(
    st.builds(
        lambda change, offset: moment(change) + offset,
        st.sampled_from(CHANGES),
        st.integers(-3 * 3600 * 1_000_000, 3 * 3600 * 1_000_000),
    ),
    st.integers(moment("1990-01-01T00:00Z"), moment("2080-01-01T00:00Z")),
)
DAYS_SCANNED = 5


@settings(max_examples=60, deadline=None)
@given(EXPRESSIONS, st.sampled_from(ZONES), MOMENTS)
@example("30 2 * * *", "Europe/Berlin", moment("2024-03-31T00:30Z"))
@example("30 2 * * *", "Europe/Berlin", moment("2024-10-27T00:45Z"))
@example("30 * * * *", "Europe/Berlin", moment("2024-10-27T00:45Z"))
@example("*/5 1 * * *", "Australia/Lord_Howe", moment("2024-04-06T15:10Z"))
@example("0 12 30 * *", "Pacific/Apia", moment("2011-12-30T09:59Z"))
def test_next_and_latest_are_what_a_scan_of_every_minute_finds(expression: str, tz: str, now: int) -> None:
    zone, cron = ZoneInfo(tz), Cron(expression, tz)
    after = scan(expression, zone, now, 1, DAYS_SCANNED * 1440)
    if after is None:
        assert cron.next(now) > now + DAYS_SCANNED * 1440 * 60_000_000 - 60_000_000
    else:
        assert cron.next(now) == after
    before = scan(expression, zone, now, -1, DAYS_SCANNED * 1440)
    if before is None:
        assert cron.latest(now) <= now - DAYS_SCANNED * 1440 * 60_000_000 + 60_000_000
    else:
        assert cron.latest(now) == before


@settings(max_examples=200, deadline=None)
@given(EXPRESSIONS, st.sampled_from(ZONES), MOMENTS)
def test_latest_and_next_enclose_every_moment_without_a_hole(expression: str, tz: str, now: int) -> None:
    cron = Cron(expression, tz)
    before, after = cron.latest(now), cron.next(now)
    assert before <= now < after
    assert cron.next(before) == after
    assert cron.latest(after) == after
    assert cron.latest(after - 1) == before


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("@hourly", ["2024-01-01 01:00", "2024-01-01 02:00"]),
        ("@daily", ["2024-01-02 00:00", "2024-01-03 00:00"]),
        ("@midnight", ["2024-01-02 00:00", "2024-01-03 00:00"]),
        ("@weekly", ["2024-01-07 00:00", "2024-01-14 00:00"]),
        ("@monthly", ["2024-02-01 00:00", "2024-03-01 00:00"]),
        ("@Yearly", ["2025-01-01 00:00", "2026-01-01 00:00"]),
        ("*/20 * * * *", ["2024-01-01 00:20", "2024-01-01 00:40"]),
        ("5/25 * * * *", ["2024-01-01 00:05", "2024-01-01 00:30"]),
        ("10-20/5,50 0 * * *", ["2024-01-01 00:10", "2024-01-01 00:15"]),
        ("0 9 * jan-MAR Mon", ["2024-01-01 09:00", "2024-01-08 09:00"]),
        ("0 0 * * 7", ["2024-01-07 00:00", "2024-01-14 00:00"]),
        ("0 0 * * fri-sun", ["2024-01-05 00:00", "2024-01-06 00:00"]),
        ("0 0 * * 5-7", ["2024-01-05 00:00", "2024-01-06 00:00"]),
        ("0 0 29 2 *", ["2024-02-29 00:00", "2028-02-29 00:00"]),
        ("0 0 13 * fri", ["2024-01-05 00:00", "2024-01-12 00:00"]),
        ("0 0 31 2 mon", ["2024-02-05 00:00", "2024-02-12 00:00"]),
        ("0 0 */10 * mon", ["2024-03-11 00:00", "2024-04-01 00:00"]),
    ],
)
def test_expressions_and_their_first_ticks_of_2024(expression: str, expected: list[str]) -> None:
    found = ticks(Cron(expression), "2024-01-01T00:00:30Z", 2)
    assert [tick.removesuffix(" +0000") for tick in found] == expected


def test_a_day_that_either_day_field_allows_is_taken() -> None:
    found = ticks(Cron("0 0 13 * fri"), "2024-09-01T00:00Z", 4)
    assert [tick[:10] for tick in found] == ["2024-09-06", "2024-09-13", "2024-09-20", "2024-09-27"]


def test_a_leap_day_is_found_over_the_century_without_one() -> None:
    assert ticks(Cron("0 0 29 2 *"), "2096-03-01T00:00Z", 1) == ["2104-02-29 00:00 +0000"]
    assert to_datetime(Cron("0 0 29 2 *").latest(moment("2104-02-28T00:00Z"))).year == 2096
    assert ticks(Cron("0 0 29 2 */7"), "2072-01-01T00:00Z", 1) == ["2088-02-29 00:00 +0000"]


def test_a_tick_that_the_clock_skips_happens_right_after_the_skip() -> None:
    assert ticks(Cron("30 2 * * *", "Europe/Berlin"), "2024-03-30T12:00Z", 2) == [
        "2024-03-31 03:00 +0200",
        "2024-04-01 02:30 +0200",
    ]


def test_several_skipped_ticks_and_the_one_after_them_are_one() -> None:
    assert ticks(Cron("*/20 2,3 * * *", "Europe/Berlin"), "2024-03-30T12:00Z", 3) == [
        "2024-03-31 03:00 +0200",
        "2024-03-31 03:20 +0200",
        "2024-03-31 03:40 +0200",
    ]


def test_a_tick_that_the_clock_shows_twice_happens_once() -> None:
    assert ticks(Cron("30 2 * * *", "Europe/Berlin"), "2024-10-26T12:00Z", 2) == [
        "2024-10-27 02:30 +0200",
        "2024-10-28 02:30 +0100",
    ]


def test_what_runs_every_hour_runs_in_every_hour_also_while_the_clock_is_moved() -> None:
    hourly = Cron("30 * * * *", "Europe/Berlin")
    assert ticks(hourly, "2024-10-26T23:00Z", 4) == [
        "2024-10-27 01:30 +0200",
        "2024-10-27 02:30 +0200",
        "2024-10-27 02:30 +0100",
        "2024-10-27 03:30 +0100",
    ]
    assert ticks(hourly, "2024-03-31T00:00Z", 3) == [
        "2024-03-31 01:30 +0100",
        "2024-03-31 03:30 +0200",
        "2024-03-31 04:30 +0200",
    ]


def test_a_day_that_a_country_skipped_is_made_up_for_when_the_next_begins() -> None:
    assert ticks(Cron("0 12 * * *", "Pacific/Apia"), "2011-12-29T23:00Z", 2) == [
        "2011-12-31 00:00 +1400",
        "2011-12-31 12:00 +1400",
    ]


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        ("0 0 31 2 *", "day of month"),
        ("0 0 30-31 feb *", "day of month"),
        ("0 0 31 4,6,9,11 *", "day of month"),
        ("60 * * * *", "minute"),
        ("-1 * * * *", "minute"),
        ("*/0 * * * *", "minute"),
        ("*/90 * * * *", "minute"),
        ("5- * * * *", "minute"),
        ("1,,2 * * * *", "minute"),
        ("1_0 * * * *", "minute"),
        ("٣ * * * *", "minute"),
        ("* 24 * * *", "hour"),
        ("* 9-5 * * *", "hour"),
        ("* * 0 * *", "day of month"),
        ("* * ? * *", "day of month"),
        ("* * L * *", "day of month"),
        ("* * * 13 *", "month"),
        ("* * * mon *", "month"),
        ("* * * * 8", "day of week"),
        ("* * * * jan", "day of week"),
        ("* * * * sat-mon", "day of week"),
        ("* * * *", "expression"),
        ("* * * * * *", "expression"),
        ("", "expression"),
        ("@reboot", "expression"),
        ("@", "expression"),
    ],
)
def test_what_cannot_be_is_refused_with_the_field_named(expression: str, named: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Cron(expression)
    assert refused.value.field == named


@pytest.mark.parametrize("tz", ["Mars/Olympus", "", "../etc/passwd", "Europe/Berlin\x00"])
def test_an_unknown_time_zone_is_refused(tz: str) -> None:
    with pytest.raises(InvalidInput, match="tz: "):
        Cron("@daily", tz)


@given(st.text(max_size=30))
def test_no_text_is_answered_with_anything_but_a_rule_or_a_refusal(text: str) -> None:
    try:
        cron = Cron(text)
    except InvalidInput:
        return
    assume(text.strip().lower() not in ALIASES)
    assert cron.next(0) > 0


def test_a_seldom_tick_is_found_quickly() -> None:
    began = datetime.now(UTC)
    for _ in range(100):
        Cron("0 0 29 2 */7", "Europe/Berlin").next(moment("2072-03-01T00:00Z"))
    assert datetime.now(UTC) - began < timedelta(seconds=5)

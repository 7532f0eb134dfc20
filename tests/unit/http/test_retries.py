"""How long to wait for another attempt."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kurabito.clock import from_datetime
from kurabito.http.retries import back_off, retry_after

NOW = from_datetime(datetime(2026, 5, 1, 12, 0, 0, tzinfo=UTC))


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("0", 0.0),
        (" 120 ", 120.0),
        ("999999999", 86_400.0),
        ("9" * 400, 86_400.0),
        ("Fri, 01 May 2026 12:01:30 GMT", 90.0),
        ("Fri, 01 May 2026 12:01:30", 90.0),
        ("Friday, 01-May-26 12:01:30 GMT", 90.0),
        ("Fri, 01 May 2026 11:00:00 GMT", 0.0),
        ("Fri, 01 May 2099 11:00:00 GMT", 86_400.0),
        ("Fri, 99 May 2026 11:00:00 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date_and_at_most_a_day(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, NOW) == seconds


def test_the_wait_doubles_up_to_a_cap_and_varies_downwards() -> None:
    assert [back_off(attempt, lambda: 0.0) for attempt in (1, 2, 3, 9, 1000)] == [1.0, 2.0, 4.0, 20.0, 20.0]
    assert back_off(3, lambda: 0.999) == pytest.approx(2.0, abs=0.01)

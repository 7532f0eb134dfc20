"""When something was published, in the ways in which feeds write it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import Final

CHINA: Final = timezone(timedelta(hours=8))


def moment(text: str, assumed: timezone = UTC) -> datetime | None:
    """The moment in UTC; None for what is no date. One without a zone is meant in the `assumed` zone."""
    text = text.strip()
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        try:
            found = parsedate_to_datetime(text)
        except (ValueError, IndexError):
            return None
    try:
        return (found if found.tzinfo else found.replace(tzinfo=assumed)).astimezone(UTC)
    except OverflowError:
        # At the very edge of the calendar another zone is no date any more.
        return None

"""Why a password was refused."""

from __future__ import annotations

from enum import StrEnum


class SecurityReason(StrEnum):
    """Why a password was refused; the value is the message's key below `security_reason`."""

    WRONG_PASSWORD = "wrong_password"  # noqa: S105 - the reason
    TOO_OFTEN = "too_often"
    """Try again in `wait_seconds`."""
    NOT_THE_SAME = "not_the_same"
    TOO_SHORT = "too_short"
    PASSWORD_FILE = "password_file"  # noqa: S105 - the reason

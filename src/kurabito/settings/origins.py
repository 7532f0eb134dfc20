"""Each setting as its owner sees it: its value, where it came from, and whether it can be changed."""

from __future__ import annotations

from typing import Final, NamedTuple

from pydantic import SecretStr

from kurabito.logs import MASK, mask_text
from kurabito.settings.effects import LIVE, LOCAL
from kurabito.settings.model import Given, Place, Settings

DEFAULT: Final = Place.DEFAULT.value
_NOT_SET: Final = Given(None, Place.DEFAULT, DEFAULT)
_OUTRANKS_DATABASE: Final = frozenset({Place.OPTION, Place.ENVIRONMENT})


class Origin(NamedTuple):
    """One setting as shown to its owner: secrets are masked."""

    name: str
    value: str | int | float | list[str] | None
    origin: str
    description: str
    is_locked: bool
    """The database cannot change it: an option or the environment has it, or the database may not hold it."""
    needs_restart: bool
    """A change takes effect at the next start."""
    place: Place = Place.DEFAULT
    """The kind of place that the value came from."""


def explain(settings: Settings) -> list[Origin]:
    """Each setting with its value and where it came from."""
    return [
        Origin(
            name,
            shown_value(settings, name),
            source_of(settings, name).where,
            field.description or "",
            name in LOCAL or outranks_database(source_of(settings, name)),
            name not in LIVE,
            source_of(settings, name).place,
        )
        for name, field in Settings.model_fields.items()
    ]


def in_effect(started: Settings, now: Settings) -> list[Origin]:
    """The settings of a process that began with some, while others hold now: what needs a restart is as it was."""
    return [old if new.needs_restart else new for old, new in zip(explain(started), explain(now), strict=True)]


def pending_restart(started: Settings, now: Settings) -> list[str]:
    """The settings whose new value waits for the next start."""
    return [name for name in Settings.model_fields if name not in LIVE and getattr(started, name) != getattr(now, name)]


def source_of(settings: Settings, name: str) -> Given:
    """What was given for a setting, and where."""
    return settings._given.get(name, _NOT_SET)


def outranks_database(given: Given) -> bool:
    """Whether this value wins over one in the database."""
    return given.place in _OUTRANKS_DATABASE


def is_secret(name: str) -> bool:
    """Whether the value of this setting is never shown."""
    return "SecretStr" in str(Settings.model_fields[name].annotation)


def shown_value(settings: Settings, name: str) -> str | int | float | list[str] | None:
    """The value of a setting as anyone may see it."""
    match value := getattr(settings, name):
        case None:
            return None
        case SecretStr():
            return MASK
        case tuple():
            return list(value)
        case int() if name == "umask":
            return f"{value:03o}"
        case int() | float():
            return value
        case _:
            return mask_text(str(value))

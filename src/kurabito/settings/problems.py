"""What is wrong with a value, at the setting that it was meant for, for readers of every language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final

from pydantic_core import ErrorDetails

from kurabito.reasons import InputReason, Reason, refused
from kurabito.settings.fields import FieldKind, SettingField, field_of
from kurabito.settings.loader import message_of
from kurabito.settings.model import Settings


class SettingReason(StrEnum):
    """Why a value of a setting was refused; the value is the message's key below `setting_reason`."""

    BETWEEN = "between"
    """It must be more than `least`, and at most `most`."""
    NETWORK = "network"
    HOST = "host"
    WEB_URL = "web_url"
    TIME_ZONE = "time_zone"
    INTERFACE = "interface"
    EMPTY = "empty"
    BASE_PATH = "base_path"
    ONE_HOST = "one_host"
    FOLDER = "folder"
    SECRET = "secret"  # noqa: S105 - the reason
    MASKED = "masked"
    """It has the stars under which its password is shown."""
    KEY_AGAIN = "key_again"
    """The `key` was given for another address."""
    HEARTBEAT = "heartbeat"
    OVERLAPS_LIBRARY = "overlaps_library"
    """The `path` and the `library` lie one in the other."""


RENEWAL: Final = ("heartbeat_seconds", "lease_seconds")
"""The two settings that have to fit each other."""
_BY_NAME: Final[Mapping[str, Reason[Any]]] = {
    "trusted_proxies": Reason(SettingReason.NETWORK),
    "allow_private_hosts": Reason(SettingReason.HOST),
    "proxy": refused(InputReason.PROXY_URL),
    "tmdb_url": Reason(SettingReason.WEB_URL),
    "tmdb_image_url": Reason(SettingReason.WEB_URL),
    "bgm_url": Reason(SettingReason.WEB_URL),
    "offline_ids_url": Reason(SettingReason.WEB_URL),
    "browse_roots": refused(InputReason.PATH_RELATIVE),
    "tz": Reason(SettingReason.TIME_ZONE),
    "torrent_interface": Reason(SettingReason.INTERFACE),
    "base_path": Reason(SettingReason.BASE_PATH),
    "bgm_image_host": Reason(SettingReason.ONE_HOST),
    "download_root": Reason(SettingReason.FOLDER),
    "tmdb_key": Reason(SettingReason.SECRET),
}
_EMPTY: Final = "string_too_short"


class SettingProblem:
    """What is wrong with one value: in English, and as a reason where there is one."""

    __slots__ = ("reason", "text")

    def __init__(self, text: str, reason: Reason[Any] | None) -> None:
        self.text = text
        self.reason = reason


def problems_of(errors: Iterable[ErrorDetails]) -> dict[str, SettingProblem]:
    """What pydantic has against values, by the setting; several things about one are said together."""
    found: dict[str, SettingProblem] = {}
    for error in errors:
        name = str(error["loc"][0]) if error["loc"] else ""
        text = message_of(error)
        if name in found:
            found[name] = SettingProblem(f"{found[name].text}; {text}", found[name].reason)
        else:
            found[name] = SettingProblem(text, _reason(name, error["type"]))
    return found


def _reason(name: str, kind: str) -> Reason[Any] | None:
    if name not in Settings.model_fields:
        return None
    if kind == _EMPTY:
        return Reason(SettingReason.EMPTY)
    field = field_of(name)
    if field.kind in (FieldKind.CHOICE, FieldKind.SWITCH):
        return refused(InputReason.CHOICE)
    return _number(field) if field.kind is FieldKind.NUMBER else _BY_NAME.get(name)


def _number(field: SettingField) -> Reason[Any]:
    limits = {"least": field.least or 0, "most": field.most or 0}
    return Reason(SettingReason.BETWEEN, limits) if field.is_above_least else refused(InputReason.NUMBER, **limits)

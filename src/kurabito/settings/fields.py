"""How each setting is shown and asked for: its group, the kind of its field, its limits and choices."""

from __future__ import annotations

import types
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from kurabito.settings.model import Settings


class SettingGroup(StrEnum):
    """What stands together, in the order of the pages."""

    GENERAL = "general"
    ACCESS = "access"
    LIBRARIES = "libraries"
    DOWNLOADS = "downloads"
    METADATA = "metadata"
    NETWORK = "network"
    ADVANCED = "advanced"


class FieldKind(StrEnum):
    """What a setting's value is, for the form that asks for it."""

    SWITCH = "switch"
    CHOICE = "choice"
    NUMBER = "number"
    LIST = "list"
    FOLDER = "folder"
    SECRET = "secret"  # noqa: S105 - the kind of a field
    TEXT = "text"


class SettingField(NamedTuple):
    """The field of one setting."""

    name: str
    group: SettingGroup
    kind: FieldKind
    choices: tuple[str, ...]
    least: float | None
    most: float | None
    is_above_least: bool
    """Whether the least value is itself too small."""
    is_whole: bool
    may_be_empty: bool


_GROUPS: Final[Mapping[SettingGroup, tuple[str, ...]]] = {
    SettingGroup.GENERAL: ("tz", "state", "log_level", "log_format"),
    SettingGroup.ACCESS: (
        "host",
        "port",
        "base_path",
        "allowed_hosts",
        "trusted_proxies",
        "api_key",
        "password_file",
    ),
    SettingGroup.LIBRARIES: (
        "allow_delete",
        "trash_days",
        "thumbnail_images",
        "thumbnail_videos",
        "thumbnail_bytes_per_second",
        "dataplane_nice",
        "dataplane_io",
        "browse_roots",
        "umask",
    ),
    SettingGroup.DOWNLOADS: (
        "download_root",
        "download_reserve",
        "download_poll_interval",
        "stalled_minutes",
        "elsewhere_minutes",
        "dead_hours",
        "torrent_port",
        "torrent_interface",
        "torrent_dht",
        "torrent_download_limit",
        "torrent_upload_limit",
        "torrent_ratio",
        "torrent_seed_hours",
        "torrent_parallel",
        "file_parallel",
    ),
    SettingGroup.METADATA: (
        "tmdb_key",
        "offline_ids_refresh",
        "offline_ids_url",
        "tmdb_url",
        "tmdb_image_url",
        "bgm_url",
        "bgm_image_host",
    ),
    SettingGroup.NETWORK: (
        "proxy",
        "allow_private_hosts",
        "max_connections",
        "max_connections_per_address",
        "header_seconds",
        "keep_alive_seconds",
    ),
}
SECTIONS: Final[Mapping[str, str]] = {
    "thumbnail_images": "thumbnails",
    "dataplane_nice": "load",
    "torrent_port": "builtin",
    "offline_ids_url": "sources",
    "max_connections": "incoming",
}
"""The headings within a group, each before the setting of this name."""
_GROUP_OF: Final = {name: group for group, names in _GROUPS.items() for name in names}
_PLACES: Final = {name: place for place, name in enumerate(_GROUP_OF)}


def fields() -> list[SettingField]:
    """Every setting, by groups, in the order in which a person reads them. What has no group yet is advanced."""
    order = list(SettingGroup)
    found = [field_of(name) for name in Settings.model_fields]
    return sorted(found, key=lambda one: (order.index(one.group), _PLACES.get(one.name, len(_PLACES))))


def field_of(name: str) -> SettingField:
    """The field of the setting of this name."""
    info = Settings.model_fields[name]
    inner, is_optional = _unwrapped(info.annotation)
    kind = _kind(inner)
    limits = _limits(info, inner)
    return SettingField(
        name,
        _GROUP_OF.get(name, SettingGroup.ADVANCED),
        kind,
        tuple(map(str, get_args(inner))) if kind is FieldKind.CHOICE else (),
        limits.get("ge", limits.get("gt")),
        limits.get("le"),
        "gt" in limits,
        inner is int,
        is_optional or kind is FieldKind.LIST or (inner is str and not limits.get("min_length")),
    )


def _unwrapped(annotation: Any) -> tuple[Any, bool]:
    """The type without None and without what is annotated, and whether None is a value too."""
    if hasattr(annotation, "__metadata__"):
        return _unwrapped(annotation.__origin__)
    if get_origin(annotation) in (Union, types.UnionType):
        (inner,) = (one for one in get_args(annotation) if one is not type(None))
        return _unwrapped(inner)[0], True
    return annotation, False


def _kind(inner: Any) -> FieldKind:
    if get_origin(inner) is Literal:
        return FieldKind.CHOICE
    if get_origin(inner) is tuple:
        return FieldKind.LIST
    kinds = {
        bool: FieldKind.SWITCH,
        int: FieldKind.NUMBER,
        float: FieldKind.NUMBER,
        Path: FieldKind.FOLDER,
        SecretStr: FieldKind.SECRET,
    }
    return kinds.get(inner, FieldKind.TEXT)


def _limits(info: FieldInfo, inner: Any) -> dict[str, float]:
    """The limits of a number or the least length of a text, wherever in the annotation they stand."""
    found: dict[str, float] = {}
    marks = list(info.metadata)
    for part in get_args(info.annotation):
        marks.extend(getattr(part, "__metadata__", ()))
    for mark in marks:
        for one in (mark, *getattr(mark, "metadata", ())):
            found |= {
                name: value
                for name in ("ge", "gt", "le", "min_length")
                if (value := getattr(one, name, None)) is not None
            }
    return found

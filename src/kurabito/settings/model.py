"""Every setting: its type, its default, its meaning, and which values it refuses."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final, Literal, NamedTuple, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, SecretStr, field_validator, model_validator

from kurabito.errors import ConfigError
from kurabito.folders import default_state
from kurabito.settings import values
from kurabito.settings.values import CommaList, FullPath, Hours, Minutes, OctalDigits, Seconds, SentSecret

_SCHEMES: Final = ("sqlite", "postgresql", "postgres", "memory")
FASTEST: Final = 2_097_151
"""KiB a second: libtorrent counts bytes, in 32 bits."""


class Place(StrEnum):
    """Where a value can come from; the first that has one wins."""

    OPTION = "option"
    ENVIRONMENT = "environment"
    DATABASE = "database"
    FILE = "file"
    DEFAULT = "default"


class Given(NamedTuple):
    """A value as it was written, and where."""

    value: Any
    place: Place
    where: str
    """The option, the variable, or the path of the file."""


class Settings(BaseModel):
    """Every setting, checked. `load` makes one."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)

    state: FullPath = Field(default_factory=default_state, description="folder for everything Kurabito keeps")
    host: str = Field("127.0.0.1", min_length=1, description="address to listen on")
    port: int = Field(8484, ge=0, le=65535, description="port to listen on; 0 takes a free one")
    database: str = Field("", description="sqlite:///FILE or postgresql://…; default: kurabito.db in the state folder")
    api_key: SecretStr | None = Field(None, min_length=1, description="accepted as X-Api-Key")
    base_path: str = Field("", description="path under which a reverse proxy serves Kurabito, like /kurabito")
    allowed_hosts: CommaList = Field((), description="more names that the Host header may have, comma list")
    trusted_proxies: CommaList = Field((), description="addresses or networks of reverse proxies, comma list")
    max_connections: int | None = Field(
        None, ge=8, le=100_000, description="connections at a time; default: 1000, or what the file descriptors allow"
    )
    max_connections_per_address: int | None = Field(
        None,
        ge=4,
        le=100_000,
        description="waiting connections of one address, reverse proxies aside; default: a quarter of all",
    )
    header_seconds: Seconds = Field(10.0, description="how long the head of a request may take to arrive")
    keep_alive_seconds: Seconds = Field(5.0, description="how long a connection stays open after an answer")
    password_file: FullPath | None = Field(None, description="file that holds the password for the page")
    allow_private_hosts: CommaList = Field(
        (), description="hosts, addresses or networks inside your own network that may be fetched from, comma list"
    )
    proxy: str | None = Field(None, description="proxy for everything fetched from outside")
    tz: str | None = Field(
        None, description="time zone of cron schedules that name none, like Europe/Berlin; default: UTC"
    )
    browse_roots: CommaList = Field(
        (),
        description="folders that can be chosen from in the page, comma list; default: data folders and mounted disks",
    )
    umask: OctalDigits | None = Field(
        None, ge=0, le=0o777, description='mask for new files, octal in quotes, like "027"'
    )
    allow_delete: bool = Field(
        False, description="whether duplicates may be removed from the libraries at all, by any data plane"
    )
    trash_days: float = Field(
        30.0, gt=0, le=1_000_000, allow_inf_nan=False, description="how long the trash is kept before it is purged"
    )
    lease_seconds: Seconds = Field(30.0, description="how long a worker owns a task without a heartbeat")
    heartbeat_seconds: Seconds = Field(5.0, description="how often a worker renews its leases")
    download_root: FullPath | None = Field(
        None, description="folder for downloads; no library may lie in it or around it"
    )
    tmdb_key: SentSecret | None = Field(None, description="your TMDB key; TMDB is not used without one")
    tmdb_url: str = Field("https://api.themoviedb.org/3", description="address of the TMDB API")
    tmdb_image_url: str = Field("https://image.tmdb.org/t/p/original", description="address of TMDB's images")
    bgm_url: str = Field("https://api.bgm.tv", description="address of the bgm.tv API")
    bgm_image_host: str = Field("lain.bgm.tv", min_length=1, description="host of bgm.tv's images")
    offline_ids_url: str = Field(
        "https://unpkg.com/bangumi-data@0.3/dist/data.json",
        min_length=1,
        description="where the offline index comes from: the data.json of bangumi-data, or its package",
    )
    offline_ids_refresh: bool = Field(
        False, description="whether the offline index is fetched and refreshed automatically, once a week"
    )
    download_poll_interval: Seconds = Field(60.0, description="how often downloaders are asked, in seconds")
    stalled_minutes: Minutes = Field(60.0, description="minutes without progress until a download counts as stalled")
    elsewhere_minutes: Minutes | None = Field(
        None,
        description="minutes until a stalled download, or one whose downloader does not respond, is sent to another; default: "
        "only when asked",
    )
    dead_hours: Hours | None = Field(
        24.0,
        description="hours without a peer, or without torrent info, until a download has failed and another is taken",
    )
    download_reserve: float = Field(
        1.0,
        ge=0,
        le=1_000_000,
        allow_inf_nan=False,
        description="GiB on the disk of the download root that stay free; what does not fit beside them waits",
    )
    torrent_port: int = Field(6884, ge=1, le=65535, description="port of the built-in downloader for peers")
    torrent_interface: str = Field(
        "", pattern=r"^[\w.:-]*$", description="address or device like tun0 that torrents are bound to; default: all"
    )
    torrent_dht: bool = Field(True, description="whether peers are looked for in the DHT too, beside trackers")
    torrent_download_limit: int | None = Field(
        None,
        ge=1,
        le=FASTEST,
        description="KiB a second that torrents of the built-in downloader take at most; default: no limit",
    )
    torrent_upload_limit: int | None = Field(
        None,
        ge=1,
        le=FASTEST,
        description="KiB a second that torrents of the built-in downloader give at most; default: no limit",
    )
    torrent_ratio: float = Field(
        1.0,
        ge=0,
        le=100_000,
        allow_inf_nan=False,
        description="the built-in downloader seeds until it gave back so much of what it took …",
    )
    torrent_seed_hours: float = Field(
        24.0, ge=0, le=1_000_000, allow_inf_nan=False, description="… or for so many hours, whichever is first"
    )
    torrent_parallel: int = Field(
        8, ge=1, le=1000, description="how many torrents the built-in downloader fetches at the same time"
    )
    file_parallel: int = Field(
        3, ge=1, le=100, description="how many plain files the built-in downloader fetches at the same time"
    )
    dataplane_role: str = Field(
        "kurabito_dataplane",
        pattern=r"^[a-z_][a-z0-9_]{0,62}$",
        description="PostgreSQL role of data planes, which may write no policy",
    )
    dataplane_nice: int = Field(10, ge=0, le=19, description="how much the data plane leaves the processor to others")
    dataplane_io: Literal["idle", "normal"] = Field("idle", description="idle: others have the disks first")
    thumbnail_images: int = Field(3, ge=0, le=64, description="how many images a data plane draws at the same time")
    thumbnail_videos: int = Field(1, ge=0, le=64, description="how many videos a data plane draws at the same time")
    thumbnail_bytes_per_second: int | None = Field(
        None,
        gt=0,
        le=1_000_000_000_000,
        description="what all data planes together may read for thumbnails; none: no limit",
    )
    thumbnail_capacity: int = Field(50_000, ge=1, le=10_000_000, description="how many thumbnails may wait to be drawn")
    thumbnail_cleanup_delay: Seconds = Field(
        600.0, description="seconds until the thumbnails of an unused group are deleted"
    )
    wal_interval: Seconds = Field(900.0, description="seconds between two checkpoints of SQLite's log, unless forced")
    wal_limit_mb: int = Field(
        128, ge=1, le=1_048_576, description="size of SQLite's log in MiB that starts a checkpoint automatically"
    )
    wal_truncate: bool = Field(False, description="whether a checkpoint may also empty the log's file")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="lowest level that is written")
    log_format: Literal["auto", "human", "json"] = Field("auto", description="auto: human in a terminal, else JSON")

    # What was set, as it was written: `load` and `with_stored` fill it.
    _given: dict[str, Given] = PrivateAttr(default_factory=dict)

    @field_validator("database")
    @classmethod
    def _known_database(cls, url: str) -> str:
        scheme, separator, _ = url.partition("://")
        if url and not (separator and scheme in _SCHEMES):
            raise ValueError("must be sqlite:///FILE, postgresql://USER@HOST/NAME or memory://")
        return url

    @field_validator("base_path")
    @classmethod
    def _one_leading_slash(cls, path: str) -> str:
        return values.base_path(path)

    @field_validator("trusted_proxies")
    @classmethod
    def _networks(cls, proxies: tuple[str, ...]) -> tuple[str, ...]:
        values.checked_networks(proxies)
        return proxies

    @field_validator("browse_roots")
    @classmethod
    def _whole_paths(cls, roots: tuple[str, ...]) -> tuple[str, ...]:
        values.checked_folders(roots)
        return roots

    @field_validator("allow_private_hosts")
    @classmethod
    def _hosts(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        values.checked_hosts(hosts)
        return hosts

    @field_validator("proxy")
    @classmethod
    def _known_proxy(cls, url: str | None) -> str | None:
        return None if url is None else values.proxy_url(url)

    @field_validator("tmdb_url", "tmdb_image_url", "bgm_url", "offline_ids_url")
    @classmethod
    def _fetched_from(cls, url: str) -> str:
        return values.web_url(url)

    @field_validator("bgm_image_host")
    @classmethod
    def _one_host(cls, host: str) -> str:
        return values.host_name(host)

    @field_validator("tz")
    @classmethod
    def _known_zone(cls, name: str | None) -> str | None:
        try:
            return ZoneInfo(name).key if name is not None else None
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError("this machine knows no such time zone; use a name like Europe/Berlin") from None

    @model_validator(mode="after")
    def _renewed_in_time(self) -> Self:
        if self.heartbeat_seconds * 2 > self.lease_seconds:
            raise ConfigError(
                f"heartbeat_seconds ({self.heartbeat_seconds:g}) must be at most half of lease_seconds "
                f"({self.lease_seconds:g}), so that one late heartbeat does not lose the task"
            )
        return self

    @model_validator(mode="after")
    def _database_in_state(self) -> Self:
        if not self.database:
            object.__setattr__(self, "database", f"sqlite:///{self.state / 'kurabito.db'}")
        return self

"""When a changed setting takes effect, and which settings the database cannot hold."""

from __future__ import annotations

from typing import Final

OF_DATA_PLANES: Final = frozenset(
    {
        "dataplane_nice",
        "dataplane_io",
        "thumbnail_images",
        "thumbnail_videos",
        "thumbnail_bytes_per_second",
        "log_level",
        "log_format",
    }
)
"""What data planes follow: the one of `kurabito serve` is started again when it changes, others read it when they start."""
LIVE: Final = OF_DATA_PLANES | frozenset(
    {
        "allowed_hosts",
        "trusted_proxies",
        "max_connections",
        "max_connections_per_address",
        "header_seconds",
        "keep_alive_seconds",
        "allow_delete",
        "trash_days",
        "browse_roots",
        "tmdb_key",
        "tmdb_url",
        "tmdb_image_url",
        "bgm_url",
        "offline_ids_url",
        "offline_ids_refresh",
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
        "thumbnail_capacity",
        "thumbnail_cleanup_delay",
        "wal_interval",
        "wal_limit_mb",
        "wal_truncate",
    }
)
"""What takes effect in a running `kurabito serve`; everything else at the next start, or when it starts again from the page."""
LOCAL: Final = frozenset({"state", "database", "umask", "host", "port", "dataplane_role", "api_key", "password_file"})
"""What the database cannot hold: settings that are needed before it is open, and those that decide who may come in."""

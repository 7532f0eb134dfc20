"""The links that are read again, as they are stored."""

from __future__ import annotations

from typing import Final

from kurabito.db import Queries
from kurabito.db.rows import ColumnList

_COLUMNS: Final = (
    "link.id, link.release_key, link.series_id, link.episode_id, episode.kind, episode.number, link.held_reason, link.title, "
    "subscription.id, subscription.url, subscription.series_id, "
    "EXISTS (SELECT 1 FROM downloads WHERE downloads.link_id = link.id)"
)
_JOINS: Final = (
    "LEFT JOIN episodes AS episode ON episode.id = link.episode_id "
    "LEFT JOIN raw_anime_items AS item ON item.id = link.raw_item_id "
    "LEFT JOIN subscriptions AS subscription ON subscription.id = item.subscription_id"
)
SQL: Final = Queries("kurabito.catalog.relinks", "links.sql", link=_COLUMNS, joins=_JOINS)
LINK: Final = ColumnList(
    "id, release_key, series_id, episode_id, kind, number, held_reason, title, feed_id, feed_url, feed_series_id, is_taken"
)
ASKED_LINK: Final = ColumnList(f"{LINK}, question_id")

"""Where the text of a notice leads, and its button if that does nothing itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from kurabito.attention import ActionId, AttentionCode, AttentionItem

PLACES: Final[Mapping[ActionId, str]] = {
    ActionId.READ_LOG: "/settings/logs",
    ActionId.START_DATA_PLANE: "/system",
    ActionId.FREE_SPACE: "/duplicates",
    ActionId.ASK_DOWNLOADERS: "/downloads/downloaders",
    ActionId.FETCH_FEED: "/following/{target}",
    ActionId.ALLOW_HOST: "/following/{target}",
    ActionId.RETRY_DOWNLOADS: "/downloads?show=failed",
    ActionId.RETRY_FILING: "/downloads?show=completed",
    ActionId.SCAN_LIBRARY: "/library/{target}",
    ActionId.REMOVE_LIBRARY: "/library/{target}",
    ActionId.TEST_INDEXER: "/search/indexers",
    ActionId.SYNC_METADATA: "/calendar?view=week",
    ActionId.ENTER_KEY: "/settings/metadata",
    ActionId.RESTART: "/system#restart",
    ActionId.OPEN_MATCHES: "/matches",
    ActionId.OPEN_CONFLICTS: "/downloads/conflicts",
    ActionId.OPEN_DOWNLOADS: "/downloads",
    ActionId.OPEN_QUESTIONS: "/questions",
    ActionId.OPEN_WANTED: "/wanted",
    ActionId.TEST_DESTINATION: "/notifications",
    ActionId.FETCH_INDEX: "/calendar?view=week",
    ActionId.CONFIRM_RELINKS: "/questions",
}
# The page of one kind of trouble is nearer than that of its part.
_NEARER: Final = {
    AttentionCode.FILES_UNCLEAR: "/downloads/questions",
}
Fix = Callable[[int | str | None], Awaitable[object]]
"""What a button does itself, to what the action is about; the others lead to the page where it is done."""


def place_of(item: AttentionItem) -> str | None:
    """The path; None where nothing helps but to know it."""
    if item.action is None:
        return None
    return _NEARER.get(item.code) or PLACES[item.action.id].format(target=item.action.target)

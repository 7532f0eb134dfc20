"""`kurabito fetch`: preview a feed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from kurabito.catalog.previews import PreviewedItem
    from kurabito.feeds.parser import Feed


def fetch(
    url: Annotated[str, typer.Argument(metavar="URL", help="The feed: RSS, Atom or Torznab.")],
    preview: Annotated[
        bool, typer.Option("--preview", help="Only show the items; `kurabito serve` follows feeds.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per item, one per line.")] = False,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Allow a host inside your own network.")
    ] = False,
) -> None:
    """Preview a feed: how each item is read, its series, and why it would not be taken.

    Series and title rules come from the database of `kurabito serve`, if it exists.

    Examples:

        kurabito fetch https://example.org/rss --preview

        kurabito fetch http://nas.local/rss --preview --allow-private --json
    """
    import asyncio

    if not preview:
        raise typer.BadParameter(
            "a feed is only looked into here: say --preview; `kurabito serve` follows feeds", param_hint="--preview"
        )
    feed, found = asyncio.run(_look(url, allow_private=allow_private))
    if as_json:
        for offer in found:
            typer.echo(json.dumps(_shown(offer), ensure_ascii=False))
        return
    _print(feed, found)


async def _look(url: str, *, allow_private: bool) -> tuple[Feed, list[PreviewedItem]]:
    from kurabito.app.compose.feeds import open_outbound
    from kurabito.app.database import is_new, pending_migrations
    from kurabito.catalog.previews import Previews
    from kurabito.db import open_database
    from kurabito.feeds.fetcher import FeedReader
    from kurabito.settings import load
    from kurabito.settings.store import stored_settings

    settings = stored_settings(load())
    async with open_outbound(settings) as outbound:
        reader = FeedReader(outbound)
        if is_new(settings):
            return await Previews(reader).look(url, allows_private=allow_private)
        database = open_database(settings.database)
        database.open()
        try:
            # What is not up to date is left alone: bringing it there is for those who serve it.
            known = None if pending_migrations(database) else database
            return await Previews(reader, known).look(url, allows_private=allow_private)
        finally:
            database.close()


def _shown(offer: PreviewedItem) -> dict[str, Any]:
    item, release = offer.item, offer.release
    return {
        "key": offer.key,
        "title": item.title,
        "download_url": item.download_url,
        "download_type": release.download_type if release else None,
        "pub_date": item.pub_date.isoformat() if item.pub_date else None,
        "size_bytes": item.size_bytes,
        "info_hash": item.info_hash,
        "series": release.names[0].shown if release else None,
        "goes_to": {"id": offer.series.id, "title": offer.series.title} if offer.series else None,
        "season": release.season if release else None,
        "episodes": release.episodes if release else (),
        "group": release.group.shown if release and release.group else None,
        "resolution": release.resolution if release else None,
        "reason": offer.reason,
    }


def _print(feed: Feed, found: list[PreviewedItem]) -> None:
    from rich.table import Table

    from kurabito.cli.collection.duplicates import counted
    from kurabito.cli.display import console, safe

    table = Table(box=None, pad_edge=False)
    for name in ("series", "season", "episodes", "group", "lines", "type", "goes to", "not taken because"):
        table.add_column(name, no_wrap=name != "series", overflow="fold")
    for offer in found:
        shown = _shown(offer)
        table.add_row(
            safe(shown["series"] or offer.item.title),
            str(shown["season"] or ""),
            _span(shown["episodes"]),
            safe(shown["group"] or ""),
            str(shown["resolution"] or ""),
            shown["download_type"] or "",
            safe(offer.series.title) if offer.series else "a new series" if offer.release else "",
            offer.reason or "",
        )
    out = console()
    out.print(table)
    out.print(f"{counted(len(found), 'item')} of {safe(feed.title or 'a feed without a title')}")
    for refused in feed.refused:
        out.print(f"item {refused.number} cannot be used: {safe(refused.reason)}")
    if not feed.is_whole:
        out.print("the feed is cut off: it may have more items")


def _span(episodes: tuple[float, ...]) -> str:
    if len(episodes) > 3:
        return f"{min(episodes):g}-{max(episodes):g}"
    return ", ".join(f"{episode:g}" for episode in episodes)

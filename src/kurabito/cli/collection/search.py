"""`kurabito search`: ask the indexers for releases."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

if TYPE_CHECKING:
    from kurabito.downloads.search.decisions import FoundRelease
    from kurabito.downloads.search.service import FoundSoFar
    from kurabito.indexers.port import SearchQuery

_SHORT_KEY: Final = 12
"""So much of a key is shown, and is enough for `kurabito grab --key`."""


def search(
    text: Annotated[
        str,
        typer.Argument(metavar="[TEXT]", help="A name; or a magnet link, a torrent file, a page or a feed to open."),
    ] = "",
    series: Annotated[
        int | None, typer.Option("--series", min=1, help="In place of a name: the show with this ID, by all its names.")
    ] = None,
    season: Annotated[int | None, typer.Option("--season", min=0, help="Only this season of a show.")] = None,
    episode: Annotated[int | None, typer.Option("--episode", min=0, help="Only this episode.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per release, one per line.")] = False,
) -> None:
    """Search all indexers: what they have, and what would be decided about it. Nothing is downloaded.

    `kurabito grab` with the same text and `--key` downloads one of them.

    Indexers are added with `kurabito indexers add`, or on the page *Indexers*.

    Examples:

        kurabito search "Yoru no Kurabito"

        kurabito search "Yoru no Kurabito" --season 2 --episode 3 --json

        kurabito search --series 7 --episode 3
    """
    import asyncio

    from kurabito.errors import InvalidInput
    from kurabito.indexers.port import SearchKind, SearchQuery

    if bool(text) is (series is not None):
        raise InvalidInput("TEXT", "say what to search for: a text, or --series with the ID of a show")
    kind = SearchKind.ANY if season is None else SearchKind.TV
    answers = asyncio.run(_search(SearchQuery(text=text, kind=kind, season=season, episode=episode), series))
    found = answers[-1].releases if answers else ()
    if as_json:
        for one in found:
            typer.echo(json.dumps(_shown(one), ensure_ascii=False))
    else:
        _print(found)
    for answer in answers:
        if answer.feed_url is not None:
            typer.echo(f"this is a feed; see what it has with `kurabito fetch {answer.feed_url} --preview`", err=True)
        if answer.outcome is not None and answer.outcome.error is not None:
            typer.echo(f"{answer.outcome.indexer.settings.name}: {answer.outcome.error}", err=True)
    if not answers:
        typer.echo("no indexer is switched on; add one with `kurabito indexers add`", err=True)
        raise typer.Exit(1)


async def _search(query: SearchQuery, series_id: int | None) -> list[FoundSoFar]:
    from kurabito.app.compose.feeds import open_outbound
    from kurabito.cli.collection.database import opened_database
    from kurabito.downloads.search.pasted_links import PastedLinks
    from kurabito.downloads.search.service import ReleaseSearch
    from kurabito.indexers.definitions import FOLDER, SiteDefinitions
    from kurabito.indexers.service import Indexers

    with opened_database() as (settings, database):
        async with open_outbound(settings) as outbound:
            indexers = Indexers(database, outbound, SiteDefinitions(settings.state / FOLDER))
            search = ReleaseSearch(database, indexers, PastedLinks(outbound))
            if series_id is not None:
                query = await search.for_series(series_id, query.episode)
            return [one async for one in search.search(query)]


def _shown(found: FoundRelease) -> dict[str, Any]:
    item, release = found.item, found.release
    return {
        "key": found.key,
        "title": item.title,
        "indexers": found.indexers,
        "series": found.series.title if found.series else release.names[0].shown if release else None,
        "season": release.season if release else None,
        "episodes": release.episodes if release else (),
        "size_bytes": item.size_bytes,
        "seeders": item.seeders,
        "reason": None if found.reason is None else found.reason.code,
    }


def _print(found: tuple[FoundRelease, ...]) -> None:
    from rich.table import Table

    from kurabito.api.reasons import in_english
    from kurabito.cli.collection.duplicates import counted, size_text
    from kurabito.cli.display import console, safe

    table = Table(box=None, pad_edge=False)
    for name in ("key", "title", "size", "seeders", "indexers", "not taken because"):
        table.add_column(name, no_wrap=name not in ("title", "not taken because"), overflow="fold")
    for one in found:
        seeders = "" if one.item.seeders is None else str(one.item.seeders)
        size = "" if one.item.size_bytes is None else size_text(one.item.size_bytes)
        reason = "" if one.reason is None else safe(in_english(one.reason))
        key = one.key[:_SHORT_KEY]
        table.add_row(key, safe(one.item.title), size, seeders, safe(", ".join(one.indexers)), reason)
    out = console()
    out.print(table)
    out.print(counted(len(found), "release"))

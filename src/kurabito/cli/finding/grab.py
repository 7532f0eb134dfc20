"""`kurabito grab`: search, and download one release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kurabito.downloads.search.decisions import FoundRelease
    from kurabito.indexers.port import SearchQuery


def grab(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="A name; or a magnet link, a torrent file or the page of a release.")
    ],
    season: Annotated[int | None, typer.Option("--season", min=0, help="Only this season of a show.")] = None,
    episode: Annotated[int | None, typer.Option("--episode", min=0, help="Only this episode.")] = None,
    key: Annotated[
        str | None,
        typer.Option(
            "--key", help="This release, by the key that `kurabito search --json` shows, whatever is decided of it."
        ),
    ] = None,
) -> None:
    """Search all indexers and download the best release that would be taken; with `--key`, the one that you name.

    A running `kurabito serve` sends it to a downloader.

    Examples:

        kurabito grab "Yoru no Kurabito" --season 2 --episode 3

        kurabito grab "magnet:?xt=urn:btih:…"
    """
    import asyncio

    from kurabito.indexers.port import SearchKind, SearchQuery

    kind = SearchKind.ANY if season is None else SearchKind.TV
    query = SearchQuery(text=text, kind=kind, season=season, episode=episode)
    title = asyncio.run(_grab(query, key))
    if title is None:
        typer.echo("nothing was found that would be taken; `kurabito search` says why", err=True)
        raise typer.Exit(1)
    typer.echo(f"grabbed {title}")


async def _grab(query: SearchQuery, key: str | None) -> str | None:
    from kurabito.cli.finding.opened_product import opened_product
    from kurabito.cli.finding.releases import found_releases
    from kurabito.cli.shown import safe
    from kurabito.downloads.search.pasted_links import is_pasted

    async with opened_product() as product:
        releases = await found_releases(product.search, query)
        chosen = _chosen(releases, key, anything=is_pasted(query.text))
        if chosen is None:
            return None
        await product.grabs.grab(chosen.key)
        return safe(chosen.item.title)


def _chosen(releases: tuple[FoundRelease, ...], key: str | None, *, anything: bool) -> FoundRelease | None:
    """The release with the key; else the first, which is the best, if it would be taken or is what was pasted."""
    if key is not None:
        return next((one for one in releases if one.key == key), None)
    return next((one for one in releases if anything or one.reason is None), None)

"""`kurabito grab`: search, and download one release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kurabito.downloads.search.decisions import FoundRelease
    from kurabito.indexers.port import SearchQuery


def grab(
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT",
            help="A name; or a magnet link, the page of a release, or a torrent file, here or on the web.",
        ),
    ],
    season: Annotated[int | None, typer.Option("--season", min=0, help="Only this season of a show.")] = None,
    episode: Annotated[int | None, typer.Option("--episode", min=0, help="Only this episode.")] = None,
    key: Annotated[
        str | None,
        typer.Option(
            "--key", help="This release, by the key that `kurabito search` shows, even if it would not be taken."
        ),
    ] = None,
) -> None:
    """Search all indexers and download the best release that would be taken; with `--key`, the one that you name.

    A running `kurabito serve` sends it to a downloader.

    Examples:

        kurabito grab "Yoru no Kurabito" --season 2 --episode 3

        kurabito grab "Yoru no Kurabito" --key 5a56e02b5e02

        kurabito grab "magnet:?xt=urn:btih:…"

        kurabito grab ./Kura.torrent
    """
    import asyncio

    from kurabito.indexers.port import SearchKind, SearchQuery

    kind = SearchKind.ANY if season is None else SearchKind.TV
    query = SearchQuery(text=text, kind=kind, season=season, episode=episode)
    path = Path(text)
    file = path.read_bytes() if path.suffix.lower() == ".torrent" and path.is_file() else None
    title = asyncio.run(_grab(query, key, file))
    if title is None:
        problem = (
            "nothing was found that would be taken"
            if key is None
            else "this key is of none, or of several of what was found"
        )
        typer.echo(f"{problem}; `kurabito search` lists it", err=True)
        raise typer.Exit(1)
    typer.echo(f"grabbed {title}")


async def _grab(query: SearchQuery, key: str | None, file: bytes | None) -> str | None:
    from kurabito.cli.display import safe
    from kurabito.cli.finding.opened_product import opened_product
    from kurabito.cli.finding.releases import found_releases
    from kurabito.downloads.search.pasted_links import is_pasted
    from kurabito.indexers.port import SearchQuery

    async with opened_product() as product:
        if file is not None:
            query = SearchQuery(text=await product.search.take_file(file))
        releases = await found_releases(product.search, query)
        chosen = _chosen(releases, key, anything=is_pasted(query.text))
        if chosen is None:
            return None
        await product.grabs.grab(chosen.key)
        return safe(chosen.item.title)


def _chosen(releases: tuple[FoundRelease, ...], key: str | None, *, anything: bool) -> FoundRelease | None:
    """The release whose key begins so, if it is the only one; else the first, which is the best, if it would be taken or is
    what was pasted.
    """
    if key is not None:
        named = [one for one in releases if one.key.startswith(key)]
        return named[0] if len(named) == 1 else None
    return next((one for one in releases if anything or one.reason is None), None)

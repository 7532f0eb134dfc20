"""A search to its end, for commands that go on with what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from kurabito.downloads.search.decisions import FoundRelease
    from kurabito.downloads.search.service import ReleaseSearch
    from kurabito.indexers.port import SearchQuery


async def found_releases(search: ReleaseSearch, query: SearchQuery) -> tuple[FoundRelease, ...]:
    """Everything that the indexers have, in its order; says which ones did not answer."""
    releases: tuple[FoundRelease, ...] = ()
    async for answer in search.search(query):
        releases = answer.releases
        if answer.outcome is not None and answer.outcome.error is not None:
            typer.echo(f"{answer.outcome.indexer.settings.name}: {answer.outcome.error}", err=True)
    return releases

"""`kurabito indexers`: what is searched, how each is asked, and how it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

if TYPE_CHECKING:
    from kurabito.indexers.service import Indexers

app = typer.Typer(no_args_is_help=True, help="Indexers that are searched: list, add, change, test, remove.")
T = TypeVar("T")

IndexerId = Annotated[int, typer.Argument(min=1, help="The indexer's id, as `list` shows it.", metavar="ID")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object per line.")]
Name = Annotated[str | None, typer.Option(help="What you call it.")]
ApiKey = Annotated[
    str | None,
    typer.Option(envvar="KURABITO_INDEXER_KEY", show_envvar=True, help="Its API key, if it is not in the URL."),
]
Private = Annotated[
    bool | None, typer.Option("--private/--no-private", help="Its host may be inside your own network.")
]
Categories = Annotated[str | None, typer.Option(help="Torznab categories, such as 2000,5070; empty for all.")]
Seeders = Annotated[int | None, typer.Option(help="Releases with fewer seeders are shown and not taken.")]
Priority = Annotated[int | None, typer.Option(help="Indexers with a larger number come first.")]
PerHour = Annotated[int | None, typer.Option(help="The most requests in an hour.")]
Proxy = Annotated[str | None, typer.Option(help="Proxy for its requests; empty uses the general one.")]
Ratio = Annotated[float | None, typer.Option(help="Its releases are seeded up to this ratio.")]
Minutes = Annotated[int | None, typer.Option(help="Or for this many minutes, whichever comes first.")]


@app.command("list")
def list_indexers(as_json: Json = False) -> None:
    """List the indexers, and how each is.

    Examples:

        kurabito indexers list
    """
    from rich.table import Table

    from kurabito.api.finding.indexers import IndexerAnswer
    from kurabito.cli.display import console, safe

    answers = [IndexerAnswer.of(one) for one in _ask(lambda indexers: indexers.everything())]
    if as_json:
        for answer in answers:
            typer.echo(answer.model_dump_json())
        return
    table = Table(box=None, pad_edge=False)
    for name in ("id", "name", "kind", "health", "url", "problem"):
        table.add_column(name, no_wrap=name in ("id", "kind", "health"), overflow="fold")
    for one in answers:
        place = one.url or one.site or ""
        table.add_row(
            str(one.id), safe(one.name), one.kind.value, one.health.value, safe(place), safe(one.error_message or "")
        )
    console().print(table)


@app.command()
def sites(as_json: Json = False) -> None:
    """List the sites that can be added: ours, and those that files in the folder `sites` of the state folder describe.

    Examples:

        kurabito indexers sites
    """
    from kurabito.api.finding.indexers import SiteAnswer
    from kurabito.cli.display import safe

    known, faults = _ask(lambda indexers: indexers.sites())
    for site in map(SiteAnswer.of, known.values()):
        notes = "".join(
            f"  ({word})" for word, holds in (("untested", not site.is_tested), ("yours", site.is_own)) if holds
        )
        typer.echo(site.model_dump_json() if as_json else safe(f"{site.key:<14}  {site.name}{notes}"))
    for fault in faults.values():
        typer.echo(safe(fault), err=True)


@app.command()
def add(
    place: Annotated[
        str,
        typer.Argument(help="A Torznab URL as Prowlarr or Jackett copy it, or the key of a site.", metavar="URL|SITE"),
    ],
    name: Name = None,
    mirror: Annotated[str | None, typer.Option(help="For a site: the address to use instead of its own.")] = None,
    api_key: ApiKey = None,
    private: Private = None,
) -> None:
    """Add a Torznab indexer or a site. It is asked when something is searched for; `change` has its other settings.

    Examples:

        kurabito indexers add "http://nas:9696/1/api?apikey=…" --name Nyaa --private

        kurabito indexers add mikan --mirror https://mikan.example
    """
    from kurabito.indexers.addresses import host_of
    from kurabito.indexers.model import IndexerKind, IndexerSettings

    is_url = "://" in place
    settings = IndexerSettings(
        kind=IndexerKind.TORZNAB if is_url else IndexerKind.SITE,
        name=name or (host_of(place) if is_url else ""),
        site=None if is_url else place,
        url=place if is_url else mirror,
        api_key=api_key,
        allows_private=bool(private),
    )
    made = _ask(lambda indexers: indexers.add(settings))
    typer.echo(f"indexer {made.id}; try it with `kurabito indexers test {made.id}`")


@app.command()
def change(
    indexer_id: IndexerId,
    name: Name = None,
    url: Annotated[
        str | None, typer.Option(help="Another address; for a site, a mirror, or empty for the site itself.")
    ] = None,
    api_key: ApiKey = None,
    private: Private = None,
    enabled: Annotated[bool | None, typer.Option("--enabled/--disabled", help="Whether it is searched.")] = None,
    categories: Categories = None,
    min_seeders: Seeders = None,
    priority: Priority = None,
    per_hour: PerHour = None,
    proxy: Proxy = None,
    seed_ratio: Ratio = None,
    seed_minutes: Minutes = None,
) -> None:
    """Change how an indexer is asked; what you do not name stays. Another host has to be given its key again.

    Examples:

        kurabito indexers change 1 --min-seeders 3 --per-hour 30 --seed-ratio 1.5

        kurabito indexers change 2 --disabled
    """
    numbers = {
        "min_seeders": min_seeders,
        "priority": priority,
        "per_hour": per_hour,
        "seed_ratio": seed_ratio,
        "seed_minutes": seed_minutes,
    }
    told: dict[str, Any] = {
        "name": name,
        "url": url,
        "api_key": api_key,
        "allows_private": private,
        "is_enabled": enabled,
        "categories": None if categories is None else _numbers(categories),
        **numbers,
    }
    changes = {field: value for field, value in told.items() if value is not None}
    if proxy is not None:
        changes["proxy"] = proxy or None
    _ask(lambda indexers: indexers.change(indexer_id, changes))


@app.command()
def test(indexer_id: IndexerId) -> None:
    """Test an indexer, also one that is paused. The exit code is 1 when it does not answer.

    Examples:

        kurabito indexers test 1
    """
    from kurabito.cli.collection.duplicates import counted
    from kurabito.cli.display import safe

    tested = _ask(lambda indexers: indexers.test(indexer_id))
    if tested.error is not None:
        typer.echo(safe(str(tested.error)), err=True)
        raise typer.Exit(1)
    typer.echo(f"it answers, with {counted(len(tested.items), 'result')}")


@app.command()
def queries(indexer_id: IndexerId, as_json: Json = False) -> None:
    """Show what an indexer was asked last, and what came of it.

    Examples:

        kurabito indexers queries 1
    """
    from kurabito.api.finding.indexers import AskedQueryAnswer
    from kurabito.cli.display import local, safe

    for one in _ask(lambda indexers: indexers.queries(indexer_id)):
        if as_json:
            typer.echo(AskedQueryAnswer.model_validate(one).model_dump_json())
            continue
        outcome = one.error_code or ("no answer yet" if one.results is None else str(one.results))
        typer.echo(safe(f"{local(one.asked_at)}  {outcome:<18}  {one.text}"))


@app.command()
def remove(indexer_id: IndexerId) -> None:
    """Remove an indexer. The releases it found stay.

    Examples:

        kurabito indexers remove 1
    """
    _ask(lambda indexers: indexers.remove(indexer_id))


def _numbers(text: str) -> tuple[int, ...]:
    from kurabito.errors import InvalidInput
    from kurabito.indexers.model import MOST_CATEGORY

    words = [word.strip() for word in text.split(",") if word.strip()]
    if not all(word.isascii() and word.isdigit() and len(word) < 8 and int(word) <= MOST_CATEGORY for word in words):
        raise InvalidInput("--categories", "must be numbers with commas between, like 2000,5070")
    return tuple(map(int, words))


def _ask(question: Callable[[Indexers], Awaitable[T]]) -> T:
    import asyncio

    from kurabito.app.compose.feeds import open_outbound
    from kurabito.cli.collection.database import opened_database
    from kurabito.indexers.definitions import FOLDER, SiteDefinitions
    from kurabito.indexers.service import Indexers

    async def run() -> T:
        with opened_database() as (settings, database):
            async with open_outbound(settings) as outbound:
                return await question(Indexers(database, outbound, SiteDefinitions(settings.state / FOLDER)))

    return asyncio.run(run())

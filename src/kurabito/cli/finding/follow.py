"""`kurabito follow`: which groups release a show, and following it by one of them."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kurabito.downloads.follow.offers import GroupOffer


def follow(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of a show.")],
    group: Annotated[
        int | None, typer.Option("--group", min=1, help="Follow it by the group with this number.")
    ] = None,
    standby: Annotated[
        int | None, typer.Option("--standby", min=1, help="The fallback group, used when the first releases nothing.")
    ] = None,
    silent_days: Annotated[
        int,
        typer.Option(
            "--silent-days", min=1, max=365, help="Days without a release after which the fallback group is used."
        ),
    ] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per group, one per line.")] = False,
) -> None:
    """Show which groups release a show, in which language and resolution, and how often; with `--group`, follow it.

    Examples:

        kurabito follow "Yoru no Kurabito"

        kurabito follow "Yoru no Kurabito" --group 1 --standby 3
    """
    import asyncio

    asyncio.run(_follow(name, group, standby, silent_days, as_json=as_json))


async def _follow(name: str, group: int | None, standby: int | None, silent_days: int, *, as_json: bool) -> None:
    from kurabito.cli.display import safe
    from kurabito.cli.finding.opened_product import opened_product
    from kurabito.cli.finding.releases import found_releases
    from kurabito.downloads.follow.offers import offers
    from kurabito.indexers.port import SearchQuery

    async with opened_product() as product:
        found = offers(await found_releases(product.search, SearchQuery(text=name)))
        if group is None:
            _print(found, as_json=as_json)
            return
        chosen, other = _numbered(found, group), None if standby is None else _numbered(found, standby).key
        made = await product.follower.follow(chosen.key, other, silent_days)
    typer.echo(f"{safe(made.series.title)} is followed by {safe(chosen.group)}")
    if made.subscription is None:
        typer.echo("the source has no feed for it, so what is wanted is searched for automatically")
    typer.echo(f"`kurabito backfill {made.series.id}` shows what would bring the episodes that are missing")


def _numbered(found: list[GroupOffer], number: int) -> GroupOffer:
    from kurabito.errors import InvalidInput

    if number > len(found):
        raise InvalidInput("--group", f"there are {len(found)} groups, and none has the number {number}")
    return found[number - 1]


def _print(found: list[GroupOffer], *, as_json: bool) -> None:
    from rich.table import Table

    from kurabito.cli.display import ago, console, safe

    if as_json:
        for one in found:
            typer.echo(json.dumps(asdict(one), ensure_ascii=False, default=str))
        return
    table = Table(box=None, pad_edge=False)
    for name in ("#", "group", "series", "languages", "resolution", "releases", "days between", "last"):
        table.add_column(name, no_wrap=name != "series", overflow="fold")
    for number, one in enumerate(found, 1):
        table.add_row(
            str(number),
            safe(one.group),
            safe(one.series if one.season == 1 else f"{one.series} S{one.season:02}"),
            ", ".join(one.languages),
            "" if one.resolution is None else f"{one.resolution}p",
            str(one.releases),
            "" if one.every_days is None else f"{one.every_days:g}",
            "" if one.last_at is None else ago(one.last_at),
        )
    console().print(table)

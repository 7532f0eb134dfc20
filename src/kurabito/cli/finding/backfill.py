"""`kurabito backfill`: what is missing of a show, fetched together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kurabito.downloads.wanted.backfill import Backfill


def backfill(
    series_id: Annotated[int, typer.Argument(metavar="SERIES", min=1, help="ID of a followed show.")],
    fetch: Annotated[bool, typer.Option("--fetch", help="Download it; a running `kurabito serve` does that.")] = False,
) -> None:
    """Show which releases would bring what is missing of a show: a batch when its season is over, else single episodes.

    Nothing is downloaded without `--fetch`.

    Examples:

        kurabito backfill 7

        kurabito backfill 7 --fetch
    """
    import asyncio

    from kurabito.cli.collection.duplicates import size_text
    from kurabito.cli.display import safe

    plan = asyncio.run(_backfill(series_id, fetch=fetch))
    for one in plan.releases:
        typer.echo(safe(f"{size_text(one.item.size_bytes or 0):>10}  {one.item.title}"))
    if plan.left:
        typer.echo(f"nothing found for {', '.join(f'{number:g}' for number in plan.left)}", err=True)
    if not plan.releases:
        typer.echo("nothing to fetch", err=True)
    elif fetch:
        typer.echo(f"{size_text(plan.size_bytes)} in all; a running `kurabito serve` downloads it", err=True)
    else:
        typer.echo(
            f"{size_text(plan.size_bytes)} in all; `kurabito backfill {series_id} --fetch` downloads it", err=True
        )


async def _backfill(series_id: int, *, fetch: bool) -> Backfill:
    from kurabito.cli.finding.opened_product import opened_product
    from kurabito.downloads.reasons import DispatchCause

    async with opened_product() as product:
        plan = await product.wanted.backfill(series_id)
        for one in plan.releases if fetch else ():
            await product.grabs.grab(one.key, DispatchCause.GRABBED)
        return plan

"""`kurabito notifications`: where messages go, and what was sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kurabito.notifications.service import Notifications

app = typer.Typer(no_args_is_help=True, help="Where notifications go: list, add, test, history, remove.")

DestinationId = Annotated[int, typer.Argument(min=1, help="The destination's id, as `list` shows it.", metavar="ID")]


class HeardKind(StrEnum):
    """What it hears of."""

    ARRIVED = "arrived"
    NEEDS_YOU = "needs_you"
    FAILED = "failed"
    DISK = "disk"


@app.command("list")
def list_destinations() -> None:
    """List the destinations, and how each is.

    Examples:

        kurabito notifications list
    """
    from kurabito.cli.display import safe

    async def show(notifications: Notifications) -> None:
        for one in await notifications.everything():
            of = one.settings
            problem = f"  {one.status.error_message}" if one.status.error_message else ""
            kinds = ",".join(sorted(of.kinds))
            typer.echo(safe(f"{one.id:>4}  {one.health:<8}  {of.name}  {of.shown_url}  {kinds}{problem}"))

    _ask(show)


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="What you call it, such as Phone.", metavar="NAME")],
    url: Annotated[
        str,
        typer.Option(
            envvar="KURABITO_NOTIFICATION_URL",
            show_envvar=True,
            prompt="Address",
            hide_input=True,
            help="An address of Apprise, or of a webhook. It has passwords in it, so the command asks for it.",
        ),
    ],
    webhook: Annotated[bool, typer.Option("--webhook", help="The address is a webhook: it is sent JSON.")] = False,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="KURABITO_NOTIFICATION_TOKEN", show_envvar=True, help="What a webhook is sent as its bearer token."
        ),
    ] = None,
    hears: Annotated[
        list[HeardKind] | None,
        typer.Option("--hears", help="What it is notified about; repeat for more. Everything if left out."),
    ] = None,
    language: Annotated[str, typer.Option(help="The language of its messages: en, zh-Hans, zh-Hant or ja.")] = "en",
    quiet: Annotated[
        str | None, typer.Option(help="Quiet hours by the clock of the server, like 22:00-07:00.", metavar="HOURS")
    ] = None,
) -> None:
    """Add a destination. Its host may be in your own network: adding it allows that host.

    Examples:

        kurabito notifications add Phone --quiet 22:00-07:00
        kurabito notifications add Hook --webhook --hears failed --hears disk
    """
    from kurabito.notifications.events import NotificationKind
    from kurabito.notifications.model import DestinationKind, DestinationSettings, read_quiet

    settings = DestinationSettings(
        kind=DestinationKind.WEBHOOK if webhook else DestinationKind.APPRISE,
        name=name,
        url=url,
        token=token,
        kinds=frozenset(map(NotificationKind, hears or NotificationKind)),
        language=language,
        quiet=read_quiet(*(quiet or "-").partition("-")[::2]),
    )

    async def store(notifications: Notifications) -> None:
        made = await notifications.add(settings)
        typer.echo(f"destination {made.id}; try it with `kurabito notifications test {made.id}`")

    _ask(store)


@app.command()
def test(destination: DestinationId) -> None:
    """Send a test message. The exit code is 1 when it did not arrive.

    Examples:

        kurabito notifications test 1
    """
    problems: list[str] = []

    async def send(notifications: Notifications) -> None:
        problems.extend(str(error) for error in [(await notifications.test(destination)).error] if error is not None)

    _ask(send)
    if problems:
        from kurabito.cli.display import safe

        typer.echo(safe(problems[0]), err=True)
        raise typer.Exit(1)
    typer.echo("the test message was sent")


@app.command()
def history(destination: DestinationId) -> None:
    """Show what a destination was sent, the newest first."""
    from kurabito.cli.display import safe

    async def show(notifications: Notifications) -> None:
        for one in await notifications.history(destination):
            problem = f"  {one.error_message}" if one.error_message else ""
            typer.echo(safe(f"{one.created_at:%Y-%m-%d %H:%M}  {one.status:<8}  {one.title}{problem}"))
            for line in one.body.splitlines():
                typer.echo(safe(f"    {line}"))

    _ask(show)


@app.command()
def remove(destination: DestinationId) -> None:
    """Remove a destination and its history."""
    _ask(lambda notifications: notifications.remove(destination))


def _ask(act: Callable[[Notifications], Awaitable[None]]) -> None:
    import asyncio

    from kurabito.cli.finding.opened_product import opened_product

    async def run() -> None:
        async with opened_product() as product:
            await act(product.notifications)

    asyncio.run(run())

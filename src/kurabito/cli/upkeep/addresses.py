"""`kurabito address`: addresses for calendars and feed readers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

if TYPE_CHECKING:
    from kurabito.access import NewSharedAddress, SharedAddress, SharedAddresses

app = typer.Typer(no_args_is_help=True, help="Create, list, renew and revoke addresses for calendars and feed readers.")
T = TypeVar("T")
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AddressId = Annotated[str, typer.Argument(help="ID of an address, as `address list` shows it.", show_default=False)]


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="Name to recognise it by.", show_default=False)], as_json: AsJson = False
) -> None:
    """Create an address and print it once: only a hash of it is stored.

    It shows the air dates of followed shows as iCalendar and new arrivals as RSS, and nothing else.

    Examples:

        kurabito address create phone
    """
    _print_new(_ask(lambda addresses: addresses.create(name)), as_json)


@app.command("list")
def list_addresses(as_json: AsJson = False) -> None:
    """List the addresses, the newest first, revoked ones included.

    Examples:

        kurabito address list
    """
    from kurabito.cli import display

    found = _ask(lambda addresses: addresses.all())
    if as_json:
        typer.echo(display.pretty({"items": [_as_json(one) for one in found], "next_cursor": None}))
    elif found:
        _print_table(found)
    else:
        typer.echo("No addresses. `kurabito address create NAME` makes one.")


@app.command()
def renew(address_id: AddressId, as_json: AsJson = False) -> None:
    """Give an address a new secret part and print it; the old one is refused from now on.

    Examples:

        kurabito address renew 5f0c2a9e
    """
    _print_new(_ask(lambda addresses: addresses.renew(address_id)), as_json)


@app.command()
def revoke(address_id: AddressId) -> None:
    """Revoke an address: it is refused from now on.

    Examples:

        kurabito address revoke 5f0c2a9e
    """
    _ask(lambda addresses: addresses.revoke(address_id))
    typer.echo(f"{address_id} revoked")


def _ask(question: Callable[[SharedAddresses], Awaitable[T]]) -> T:
    from kurabito.access import SharedAddresses
    from kurabito.cli.collection.database import asked

    return asked(lambda database: question(SharedAddresses(database)))


def _print_new(new: NewSharedAddress, as_json: bool) -> None:
    from kurabito.cli import display

    typer.echo(
        f"This is shown only now. The address has the id {new.address.id}; put the URL of your Kurabito before it.",
        err=True,
    )
    if as_json:
        paths = {"calendar_path": new.calendar_path, "arrivals_path": new.arrivals_path}
        typer.echo(display.pretty({"address": _as_json(new.address), **paths}))
    else:
        typer.echo(f"{new.calendar_path}\n{new.arrivals_path}")


def _as_json(one: SharedAddress) -> dict[str, Any]:
    from kurabito.api.shared.addresses import SharedAddressAnswer

    return SharedAddressAnswer.model_validate(one).model_dump(mode="json")


def _print_table(found: list[SharedAddress]) -> None:
    from rich.table import Table

    from kurabito.cli import display

    table = Table(box=None, pad_edge=False)
    for title in ("id", "name", "created", "last used", "revoked"):
        table.add_column(title, no_wrap=title != "name")
    for one in found:
        used = display.ago(one.last_used_at) if one.last_used_at else "never"
        revoked = display.local(one.revoked_at) if one.revoked_at else ""
        table.add_row(one.id, display.safe(one.name), display.local(one.renewed_at or one.created_at), used, revoked)
    display.console().print(table)

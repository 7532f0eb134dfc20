"""`kurabito user`: logging in to the page."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kurabito.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Log in to the page: set the password, or get a link.")


@app.command()
def password(
    from_stdin: Annotated[
        bool, typer.Option("--stdin", help="Read the password from the first line of stdin.")
    ] = False,
) -> None:
    """Set the password of the page. All sessions and login links end.

    Examples:

        kurabito user password

        pass show kurabito | kurabito user password --stdin
    """
    import asyncio

    from kurabito import settings
    from kurabito.access import Passwords
    from kurabito.cli.databases import product_database

    chosen = settings.load()
    _refuse_file(chosen)
    # Asked before anything is opened, so that giving up leaves nothing behind.
    wanted = sys.stdin.readline().rstrip("\r\n") if from_stdin else _ask()
    with product_database(chosen, create=True) as database:
        asyncio.run(Passwords(database).set(wanted))
    typer.echo("The password is set. All sessions have ended: log in again.")


@app.command()
def link(
    url: Annotated[
        str | None,
        typer.Option(help="Address of Kurabito as a browser sees it.", show_default="from the settings", metavar="URL"),
    ] = None,
) -> None:
    """Print a link that logs in without a password: once, within a day.

    Examples:

        kurabito user link

        kurabito user link --url https://nas.example/kurabito
    """
    import asyncio

    from kurabito import settings
    from kurabito.access import Sessions
    from kurabito.cli.databases import product_database

    chosen = settings.load()
    front_door = (url or _front_door(chosen)).rstrip("/")
    with product_database(chosen, create=True) as database:
        token = asyncio.run(Sessions(database).new_link())
    typer.echo("This link logs in once, within a day. Treat it like a password.", err=True)
    typer.echo(f"{front_door}/login?token={token}")


def _ask() -> str:
    if not sys.stdin.isatty():
        raise typer.BadParameter("there is no terminal to ask on; use --stdin")
    answer: str = typer.prompt("New password", hide_input=True, confirmation_prompt="The same again")
    return answer


def _refuse_file(chosen: Settings) -> None:
    from kurabito.errors import ConfigError

    if chosen.password_file is not None:
        raise ConfigError(
            f"the password is what {chosen.password_file} says: change it there, or unset KURABITO_PASSWORD_FILE"
        )


def _front_door(chosen: Settings) -> str:
    from kurabito.errors import ConfigError

    if chosen.port == 0:
        raise ConfigError("the settings have no port (0 takes a free one): say where Kurabito is with --url")
    # Listening everywhere includes this machine, which is where the link is asked for.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(chosen.host, chosen.host)  # noqa: S104 - compared with, not listened on
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{chosen.port}{chosen.base_path}"

"""`kurabito profile`: how releases are chosen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

if TYPE_CHECKING:
    from kurabito.api.finding.profiles import ProfileBody
    from kurabito.downloads.profiles.service import ReleaseProfiles

app = typer.Typer(no_args_is_help=True, help="List, store and remove profiles, and choose the one that a show uses.")
T = TypeVar("T")
ProfileId = Annotated[int, typer.Argument(metavar="ID", min=1, help="ID of a profile, as `profile list` shows it.")]


@app.command("list")
def list_profiles(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per profile, one per line.")] = False,
) -> None:
    """List the profiles.

    Examples:

        kurabito profile list
    """
    from rich.table import Table

    from kurabito.api.finding.profiles import ProfileAnswer
    from kurabito.cli.display import console, safe

    found = _ask(lambda profiles: profiles.everything())
    if as_json:
        for one in found:
            typer.echo(ProfileAnswer.of(one).model_dump_json())
        return
    table = Table(box=None, pad_edge=False)
    for name in ("id", "name", "default", "policy", "upgrades"):
        table.add_column(name, no_wrap=name != "name", overflow="fold")
    for one in found:
        upgrades = "yes" if one.preferences.upgrade else ""
        default = "yes" if one.is_default else ""
        table.add_row(str(one.id), safe(one.name or ""), default, one.preferences.policy.value, upgrades)
    console().print(table)


@app.command("set")
def store_profile(
    file: Annotated[
        typer.FileText, typer.Argument(help="A profile as `PUT /api/v1/profiles/ID` takes it, in JSON; - is the input.")
    ],
) -> None:
    """Store a profile: the one that has its name is changed, else it is new.

    Examples:

        echo '{"name": "HD", "preferences": {"resolutions": [1080]}}' | kurabito profile set -
    """
    body = _profile(file.read())

    async def store(profiles: ReleaseProfiles) -> int:
        known = next((one for one in await profiles.everything() if one.name == body.name), None)
        if known is None:
            stored = await profiles.add(body.name, body.chosen())
        else:
            stored = await profiles.change(known.id, body.name, body.chosen())
        if body.is_default != stored.is_default:
            await profiles.make_default(stored.id if body.is_default else None)
        return stored.id

    typer.echo(f"stored as {_ask(store)}")


@app.command()
def remove(profile_id: ProfileId) -> None:
    """Remove a profile. Its shows use the default then.

    Examples:

        kurabito profile remove 2
    """
    _ask(lambda profiles: profiles.remove(profile_id))
    typer.echo(f"{profile_id} removed")


@app.command()
def use(
    series_id: Annotated[int, typer.Argument(metavar="SERIES", min=1, help="ID of a show.")],
    profile_id: Annotated[
        int | None, typer.Argument(metavar="[ID]", min=1, help="ID of a profile; without one, the default.")
    ] = None,
) -> None:
    """Choose the profile that a show uses.

    Examples:

        kurabito profile use 7 2
    """
    used = _ask(lambda profiles: profiles.use(series_id, profile_id))
    typer.echo("no profile is used" if used is None else f"{used.name or used.id} is used")


def _profile(text: str) -> ProfileBody:
    from pydantic import ValidationError

    from kurabito.api.finding.profiles import ProfileBody
    from kurabito.errors import InvalidInput

    try:
        return ProfileBody.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(one) for one in first["loc"]) or "file"
        raise InvalidInput(where, first["msg"]) from None


def _ask(question: Callable[[ReleaseProfiles], Awaitable[T]]) -> T:
    from kurabito.cli.collection.database import asked
    from kurabito.downloads.profiles.service import ReleaseProfiles

    return asked(lambda database: question(ReleaseProfiles(database)))

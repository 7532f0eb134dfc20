"""`kurabito placements`: files on their way into libraries, and what a person says about them."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kurabito.db import Database

app = typer.Typer(no_args_is_help=True, help="Files on their way into libraries: list them, answer questions, undo.")

PlacementId = Annotated[int, typer.Argument(min=1, help="The placement's id, as `list` shows it.", metavar="ID")]
QuestionId = Annotated[int, typer.Argument(min=1, help="The question's id, as `questions` shows it.", metavar="ID")]


class NameConflictChoice(StrEnum):
    """What becomes of a file whose name another file has."""

    KEEP_BOTH = "keep_both"
    REPLACE = "replace"
    LEAVE = "leave"


@app.command("list")
def list_placements(
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many, the newest first.")] = 20,
) -> None:
    """List files on their way into libraries, the newest first.

    Examples:

        kurabito placements list --limit 50
    """
    import asyncio

    from kurabito.cli.display import safe
    from kurabito.placements.filing.service import Placements

    def show(database: Database) -> None:
        for one in asyncio.run(Placements(database).page(limit=limit)):
            state = one.method if one.method is not None else one.error_code or ""
            typer.echo(safe(f"{one.id:>6}  {one.status:<9}  {state:<16}  {one.library}/{one.target_path}"))

    _with_database(show)


@app.command()
def questions() -> None:
    """List files that a person has to identify, with the candidates.

    Examples:

        kurabito placements questions
    """
    import asyncio

    from kurabito.api.reasons import in_english
    from kurabito.cli.display import safe
    from kurabito.placements.filing.questions import FileQuestions
    from kurabito.placements.filing.reasons import FilingReason

    def show(database: Database) -> None:
        for one in asyncio.run(FileQuestions(database).page(limit=200)):
            why = one.reason.code.value if isinstance(one.reason.code, FilingReason) else in_english(one.reason)
            typer.echo(safe(f"{one.id:>6}  {one.path or one.title or ''}: {why}"))
            for found in one.candidates:
                named = found["label"] or f"season {found['season']} episode {'-'.join(map(str, found['episodes']))}"
                typer.echo(safe(f"        or: {named}"))

    _with_database(show)


@app.command()
def answer(
    question: QuestionId,
    episode: Annotated[
        list[float] | None, typer.Option("--episode", min=0, help="The episode; repeat it for a file with several.")
    ] = None,
    season: Annotated[
        int | None, typer.Option(min=0, max=999, help="The season, if it is not the series' own.")
    ] = None,
    special: Annotated[str | None, typer.Option(metavar="TEXT", help="It is a special: `OVA 2`, `SP 1`.")] = None,
    film: Annotated[bool, typer.Option("--film", help="It is a film.")] = False,
    library: Annotated[int | None, typer.Option(min=1, help="All files of the download go into this library.")] = None,
    leave: Annotated[bool, typer.Option("--leave", help="The file stays where it is.")] = False,
) -> None:
    """Say what a file is, or what becomes of it. `undo-answer` takes it back until the file is in a library.

    Examples:

        kurabito placements answer 12 --episode 7

        kurabito placements answer 13 --special "OVA 1"

        kurabito placements answer 14 --film

        kurabito placements answer 15 --leave
    """
    import asyncio

    from kurabito.placements.filing.answers import AnswerChoice, FilingAnswer
    from kurabito.placements.filing.questions import FileQuestions
    from kurabito.placements.plans.model import WorkKind

    if sum((bool(episode), special is not None, film, library is not None, leave)) != 1:
        raise typer.BadParameter("say one of --episode, --special, --film, --library and --leave")
    if leave or library is not None:
        said = FilingAnswer(choice=AnswerChoice.LEAVE if leave else AnswerChoice.LIBRARY, library_id=library)
    else:
        numbers = tuple(int(one) if one.is_integer() else one for one in episode or ())
        kind = WorkKind.FILM if film else WorkKind.EPISODE if numbers else WorkKind.SPECIAL
        said = FilingAnswer(choice=AnswerChoice.FILE, kind=kind, season=season, episodes=numbers, label=special)
    _with_database(lambda database: asyncio.run(FileQuestions(database).answer(question, said)))


@app.command("undo-answer")
def undo_answer(question: QuestionId) -> None:
    """Take an answer back, as long as its file is not in a library."""
    import asyncio

    from kurabito.placements.filing.questions import FileQuestions

    _with_database(lambda database: asyncio.run(FileQuestions(database).take_back(question)))


@app.command()
def retry(placement: PlacementId) -> None:
    """Try a placement again, now."""
    import asyncio

    from kurabito.placements.filing.service import Placements

    _with_database(lambda database: asyncio.run(Placements(database).retry(placement)))


@app.command()
def resolve(
    placement: PlacementId, choice: Annotated[NameConflictChoice, typer.Argument(help="What becomes of the two files.")]
) -> None:
    """Say what becomes of a file whose name another file has. What is replaced goes to the trash.

    leave is for any file that could not be placed.

    Examples:

        kurabito placements resolve 31 replace
    """
    import asyncio

    from kurabito.placements.filing.service import PlacementChoice, Placements

    chosen = PlacementChoice(choice.value)
    _with_database(lambda database: asyncio.run(Placements(database).resolve(placement, chosen)))


@app.command()
def undo(placement: PlacementId) -> None:
    """Restore a file that another one replaced; that one goes to the trash."""
    import asyncio

    from kurabito.placements.filing.service import Placements

    _with_database(lambda database: asyncio.run(Placements(database).undo(placement)))


@app.command()
def rename(
    library: Annotated[int, typer.Argument(min=1, help="The library's id.", metavar="LIBRARY")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be renamed, and change nothing.")] = False,
) -> None:
    """Rename the files of a library as its templates say; only those that Kurabito put there.

    A data plane renames them; `undo-rename` gives them their names back.

    Examples:

        kurabito placements rename 1 --dry-run
    """
    import asyncio

    from kurabito.cli.display import safe
    from kurabito.placements.renames.service import Renames

    def act(database: Database) -> None:
        renames = Renames(database)
        if dry_run:
            preview = asyncio.run(renames.preview(library))
            for one in preview.renames:
                typer.echo(safe(f"{one.path}\n  -> {one.target}"))
            for path, token in preview.unknown:
                typer.echo(safe(f"{path}\n  keeps its name: {{{token}}} is not known"))
            for path in preview.taken:
                typer.echo(safe(f"{path}\n  keeps its name: another file has the new one"))
            typer.echo(f"rename {len(preview.renames):,}, right already {preview.unchanged:,}")
        elif (made := asyncio.run(renames.apply(library))) is None:
            typer.echo("every file has the right name already")
        else:
            typer.echo(f"renaming {made.id}: {made.files:,} files")

    _with_database(act)


@app.command("undo-rename")
def undo_rename(
    renaming: Annotated[int, typer.Argument(min=1, help="The id that `rename` printed.", metavar="ID")],
) -> None:
    """Give the files of a renaming their names back."""
    import asyncio

    from kurabito.placements.renames.service import Renames

    def act(database: Database) -> None:
        made = asyncio.run(Renames(database).undo(renaming))
        typer.echo(f"renaming {made.id}: {made.files:,} files")

    _with_database(act)


def _with_database(act: Callable[[Database], object]) -> None:
    from kurabito import settings
    from kurabito.cli.databases import product_database

    with product_database(settings.load()) as database:
        act(database)

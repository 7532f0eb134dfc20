"""`kurabito conformance`: whether a data plane, or an external worker, keeps the rules of its protocol."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kurabito.conformance.outcomes import RuleOutcome
    from kurabito.protocol.rulebook import RuleBook


def conformance(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND...", help="How the data plane, or the worker, is started."),
    ] = None,
    worker: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Examine an external worker, which finds the server at this URL; port 0 is any that is free.",
        ),
    ] = None,
    postgres: Annotated[
        str | None,
        typer.Option(metavar="URL", help="A PostgreSQL server to make databases on; without it SQLite alone is tried."),
    ] = None,
    rules: Annotated[
        list[str] | None, typer.Option("--rule", metavar="RULE", help="Only this rule or section, like SCAN-4 or SCAN.")
    ] = None,
    long: Annotated[
        bool, typer.Option("--long", help="Also kill the plane again and again, and run two at once.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Decides at which moments the plane is killed.")] = 0,
    rounds: Annotated[int, typer.Option(min=1, help="How often it is killed in each job.")] = 3,
    patience: Annotated[float, typer.Option(min=1.0, help="Seconds after which a step counts as not done.")] = 60.0,
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON.")] = None,
    junit_file: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Write the result as JUnit.")
    ] = None,
) -> None:
    """Drive a data plane, in whatever language, through the numbered rules of the protocol, and say which ones it broke.

    With --worker, the same for an external worker over HTTP: a server is started, and the worker finds its address in
    KURABITO_URL and a key in KURABITO_API_KEY. Without a command both are printed, and a worker started by hand is waited for.

    Databases and folders are made in a temporary place and removed afterwards. The exit code is 1 when a rule failed.

    Examples:

        kurabito conformance -- kurabito dataplane

        kurabito conformance --rule SCAN --rule HASH --junit result.xml -- node plane.js

        kurabito conformance --worker http://127.0.0.1:0 -- node worker.js
    """
    from kurabito.conformance.kit import Examination, examine
    from kurabito.conformance.workers.kit import WorkerExamination, examine_worker
    from kurabito.protocol.external import WORKERS
    from kurabito.protocol.rules import PLANES

    def tell(step: str) -> None:
        typer.echo(step, err=True)

    if worker is None:
        book = PLANES
        outcomes = examine(Examination(command or (), postgres, rules or (), long, seed, rounds, patience), tell)
    else:
        book = WORKERS
        outcomes = examine_worker(WorkerExamination(worker, command or (), rules or (), patience), tell)
    _report(outcomes, book, json_file, junit_file)


def _report(outcomes: Sequence[RuleOutcome], book: RuleBook, json_file: Path | None, junit_file: Path | None) -> None:
    """Show what became of the rules, write it down, and end with 1 when one was broken."""
    from kurabito.conformance import report
    from kurabito.conformance.outcomes import RuleVerdict

    colours = {
        RuleVerdict.PASSED: typer.colors.GREEN,
        RuleVerdict.FAILED: typer.colors.RED,
        RuleVerdict.NOT_COVERED: typer.colors.YELLOW,
    }
    for outcome in outcomes:
        first, *details = report.lines(outcome)
        typer.secho(first, fg=colours[outcome.verdict])
        for line in details:
            typer.echo(line)
    typer.echo(report.summary(outcomes))
    if json_file is not None:
        json_file.write_text(report.as_json(outcomes, book), encoding="utf-8")
    if junit_file is not None:
        junit_file.write_text(report.as_junit(outcomes, book), encoding="utf-8")
    if any(outcome.verdict is RuleVerdict.FAILED for outcome in outcomes):
        raise typer.Exit(1)

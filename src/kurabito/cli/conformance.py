"""`kurabito conformance`: whether a data plane keeps the rules of the protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def conformance(
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="How the data plane is started.")],
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

    Databases and folders are made in a temporary place and removed afterwards. The exit code is 1 when a rule failed.

    Examples:

        kurabito conformance -- kurabito dataplane

        kurabito conformance --rule SCAN --rule HASH --junit result.xml -- node plane.js
    """
    from kurabito.conformance import report
    from kurabito.conformance.kit import Examination, examine
    from kurabito.conformance.outcomes import RuleVerdict

    colours = {
        RuleVerdict.PASSED: typer.colors.GREEN,
        RuleVerdict.FAILED: typer.colors.RED,
        RuleVerdict.NOT_COVERED: typer.colors.YELLOW,
    }
    examination = Examination(command, postgres, rules or (), long, seed, rounds, patience)
    outcomes = examine(examination, lambda step: typer.echo(step, err=True))
    for outcome in outcomes:
        first, *details = report.lines(outcome)
        typer.secho(first, fg=colours[outcome.verdict])
        for line in details:
            typer.echo(line)
    typer.echo(report.summary(outcomes))
    if json_file is not None:
        json_file.write_text(report.as_json(outcomes), encoding="utf-8")
    if junit_file is not None:
        junit_file.write_text(report.as_junit(outcomes), encoding="utf-8")
    if any(outcome.verdict is RuleVerdict.FAILED for outcome in outcomes):
        raise typer.Exit(1)

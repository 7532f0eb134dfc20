"""`kurabito doctor`: what is wrong with this installation, and how to fix it."""

from __future__ import annotations

from typing import Annotated, Final

import typer

_MARKS: Final = {"ok": "ok     ", "warning": "warning", "broken": "BROKEN "}
_COLOURS: Final = {"ok": typer.colors.GREEN, "warning": typer.colors.YELLOW, "broken": typer.colors.RED}


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: one object per check.")] = False,
) -> None:
    """Check folder, disk, clock, port and database, and say how to fix each problem. Nothing is changed.

    The exit code is 1 when something is broken.

    Examples:

        kurabito doctor

        KURABITO_STATE=/srv/kurabito kurabito doctor --json
    """
    import json

    from kurabito import settings
    from kurabito.doctor import examine

    ill = False
    rows = []
    for name, finding in examine(settings.load()):
        ill = ill or finding.verdict == "broken"
        if as_json:
            rows.append({"check": name, "verdict": finding.verdict, "says": finding.says, "fix": finding.fix or None})
            continue
        # Each as it comes: looking through a large database takes a while.
        typer.secho(_MARKS[finding.verdict], fg=_COLOURS[finding.verdict], nl=False)
        typer.echo(f"  {name}: {finding.says}")
        if finding.fix:
            typer.echo(f"{' ' * 9}-> {finding.fix}")
    if as_json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    if ill:
        raise typer.Exit(1)

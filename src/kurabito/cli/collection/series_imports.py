"""What `kurabito import --series` does: plans, shows, asks, and gives files to a series."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import typer

from kurabito import settings
from kurabito.api.placements.imports import ImportAnswer
from kurabito.api.reasons import in_english
from kurabito.app.compose.downloads import open_imports
from kurabito.cli.databases import product_database
from kurabito.cli.display import safe
from kurabito.placements.imports.model import ImportOrder, ImportPlan
from kurabito.placements.imports.service import Imports
from kurabito.settings.store import stored_settings


def run_orders(
    paths: Sequence[Path], series: int, episodes: tuple[float, ...], *, dry_run: bool, yes: bool, as_json: bool
) -> int:
    """Import each path; the exit code."""
    given = stored_settings(settings.load())
    with product_database(given) as database:
        imports = open_imports(given, database)
        for path in paths:
            order = ImportOrder(path=str(path.absolute()), series_id=series, episodes=episodes)
            asyncio.run(_run(imports, order, dry_run=dry_run, yes=yes, as_json=as_json))
    return 0


async def _run(imports: Imports, order: ImportOrder, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    plan = await imports.plan(order)
    if not as_json:
        _show(plan)
    wanted = not dry_run and bool(plan.importable) and (yes or as_json or typer.confirm("Import these files?"))
    if wanted:
        plan = await imports.apply(order)
    if as_json:
        typer.echo(json.dumps(ImportAnswer.of(plan, applied=wanted).model_dump(mode="json"), ensure_ascii=False))
    elif wanted:
        typer.echo(f"Files imported: {len(plan.importable):,}")


def _show(plan: ImportPlan) -> None:
    if plan.problem is not None:
        typer.echo(f"nothing can be imported: {plan.problem.code.value}")
    for file in plan.files:
        numbers = ", ".join(f"{one.kind} {one.number:g}" for one in file.episodes)
        typer.echo(safe(f"{file.action.value:6} {file.path}"))
        if file.target is not None:
            typer.echo(safe(f"       {file.target}"))
        elif numbers:
            typer.echo(safe(f"       {numbers}"))
        elif file.reason is not None:
            typer.echo(safe(f"       {in_english(file.reason)}"))

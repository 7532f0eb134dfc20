"""`kurabito title`: parse release titles, and explain the result."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from kurabito.titles import ReleaseTitle


def title(
    texts: Annotated[list[str] | None, typer.Argument(metavar="[TEXT]...", show_default="the lines of stdin")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line, also on a terminal.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show which recogniser took which part, and why.")] = False,
) -> None:
    """Parse release titles.

    Examples:

        kurabito title "[Kura] Yoru no Kurabito - 07v2 [1080p][WEB-DL]"

        kurabito title --explain "Some.Show.S01E02.1080p.WEB-DL.H.264-GRP"

        ls | kurabito title --json
    """
    from kurabito.titles import parse_title

    for text in texts or _lines():
        found = parse_title(text, explain=explain)
        if as_json or not sys.stdout.isatty():
            typer.echo(json.dumps(_shown(found, explain=explain), ensure_ascii=False))
        else:
            _print(found)


def _lines() -> Iterator[str]:
    for line in sys.stdin.buffer:
        if text := line.decode(errors="replace").strip():
            yield text


def _shown(found: ReleaseTitle, *, explain: bool) -> dict[str, Any]:
    facts = asdict(found)
    findings = facts.pop("findings")
    return {**facts, "findings": findings} if explain else facts


def _print(found: ReleaseTitle) -> None:
    from kurabito.cli.display import safe

    for name, value in _shown(found, explain=False).items():
        if value not in (None, (), False):
            shown_value = ", ".join(map(_told, value)) if isinstance(value, tuple) else str(value)
            typer.echo(f"{name:<12}{safe(shown_value)}")
    for finding in found.findings:
        typer.echo(f"  {safe(finding.text):<32} {finding.recogniser}: {safe(finding.why)}")
    typer.echo()


def _told(value: Any) -> str:
    """One of several; an extra as its kind and its numbers."""
    return f"{value['kind']} {list(value['episodes']) or ''}".strip() if isinstance(value, dict) else str(value)

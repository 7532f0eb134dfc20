"""Which part of Kurabito a missing package belongs to.

The bare package has the runtime and its commands; the others need `kurabito[server]`.
"""

from __future__ import annotations

from typing import Final

from kurabito.errors import MissingExtra

MODULES: Final = {
    "server": frozenset(
        {
            "PIL",
            "apprise",
            "av",
            "blake3",
            "fastapi",
            "h11",
            "httpcore2",
            "httpx2",
            "jinja2",
            "libtorrent",
            "markupsafe",
            "pyvips",
            "re2",
            "starlette",
            "uvicorn",
            "watchfiles",
        }
    ),
    "postgres": frozenset({"psycopg"}),
}
"""The modules that each extra brings and that we import."""


def missing_extra(problem: ModuleNotFoundError) -> MissingExtra | None:
    """The error to show in the place of an import that failed; None where no extra would help."""
    module = (problem.name or "").partition(".")[0]
    return next((MissingExtra(module, extra) for extra, brought in MODULES.items() if module in brought), None)

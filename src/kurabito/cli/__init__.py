"""The command line: `commands` has the commands, and `main` runs them.

collection/   what is in the collection, what could be, and what it is called
processes/    what runs until it is stopped: the site, workers, data planes, downloaders
upkeep/       settings, the database, keys, the password, and what is wrong
tasks.py      the job runtime alone: enqueue, look, watch, cancel; also worker in processes/
"""

from __future__ import annotations

import sys

from kurabito.errors import KurabitoError, MissingExtra


def main() -> None:
    """Run the command line: 0 done, 1 could not be done, 2 not understood or not installed."""
    try:
        if sys.argv[1:2] == ["dedupe"]:
            # It is over in less time than the other commands take to load.
            from kurabito.cli.collection import duplicates

            duplicates.run_if_plain(sys.argv[2:])
        from kurabito.cli.commands import app

        app()
    except KurabitoError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2 if isinstance(error, MissingExtra) else 1)
    except ModuleNotFoundError as problem:
        from kurabito.cli.extras import missing_extra

        if (missing := missing_extra(problem)) is None:
            raise
        sys.stderr.write(f"error: {missing}\n")
        sys.exit(2)

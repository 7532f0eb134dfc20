"""The command line: `commands` has the commands, and `main` runs them.

collection/   what is in the collection, what could be, and what it is called
processes/    what runs until it is stopped: the site, workers, data planes, downloaders
upkeep/       settings, the database, keys, the password, and what is wrong
tasks.py      the job runtime alone: enqueue, look, watch, cancel; also worker in processes/
conformance.py `kurabito conformance`: whether a data plane, or an external worker, keeps the rules of its protocol
databases.py  the product's database, for a command that works on it whether or not `serve` runs
extras.py     which part of Kurabito a missing package belongs to
queues.py     which queue a command means, and how it is opened
display.py    tasks as a person reads them, and as JSON
finding/      commands that find shows and tell what became of them: grab, follow, profile, blocklist, history
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

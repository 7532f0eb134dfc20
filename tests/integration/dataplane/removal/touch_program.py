"""Removes files while another program, which it plays itself, does something to the same files at the worst moments.

Takes one JSON object: what to run (`{"dedupe": [arguments]}` or `{"jobs": database URL}`), and under `acts` a list of
`{"before": [events], "name": part of a name, "do": [[action, path, text], …]}`, done one after the other, each right before
such an event touches the disk.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def play(acts: list[dict[str, Any]]) -> None:
    acting = False

    def touch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal acting
        if acting or not acts or event not in acts[0]["before"]:
            return
        if not any(isinstance(each, str) and acts[0]["name"] in each for each in arguments):
            return
        acting = True
        for action, path, *text in acts.pop(0)["do"]:
            if action == "unlink":
                Path(path).unlink()
            elif action == "move":
                Path(path).rename(text[0])
            else:
                # A new file, as programs do that save: the old one goes with its name.
                new = Path(f"{path}.new")
                new.write_text(text[0])
                new.rename(path)
        acting = False

    sys.addaudithook(touch)


def do_jobs(url: str) -> None:
    from kurabito.dataplane.deletion.job import delete
    from kurabito.dataplane.jobs import JobWork
    from kurabito.dataplane.leasing.runner import Runner
    from kurabito.db import open_database
    from kurabito.protocol.enums import JobKind
    from kurabito.protocol.rights import DATA_PLANE

    database = open_database(url, create=False, rights=DATA_PLANE)
    database.open()
    runner = Runner(database, JobWork({JobKind.DELETE: delete}), name="plane", heartbeat=60.0)
    while runner.work():
        pass
    database.close()


order = json.loads(sys.argv[1])
play(order["acts"])
if "jobs" in order:
    do_jobs(order["jobs"])
else:
    from kurabito.cli import main

    sys.argv[1:] = ["dedupe", *order["dedupe"]]
    main()

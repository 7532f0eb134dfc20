"""`kurabito demo`: the whole product on made-up data."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

from kurabito.cli.processes.startup import begin_loading, end_loading

_SETTINGS: Final[dict[str, Any]] = {
    "host": "127.0.0.1",
    "allow_delete": True,
    # The seeder is on this machine; no other peer has to know of it.
    "torrent_interface": "127.0.0.1",
    "torrent_dht": False,
    "download_poll_interval": 2.0,
    # The page tells of the tasks that fail, and they are meant to.
    "log_level": "error",
}


def demo(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 0,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the folder with the made-up data at the end.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the address and the link as one line of JSON.")
    ] = False,
) -> None:
    """Run the whole product on made-up data in a temporary folder, without a network, until Ctrl-C or SIGTERM.

    Examples:

        kurabito demo

        kurabito demo --port 9000 --keep
    """
    begin_loading()
    import asyncio
    import json
    import shutil
    import tempfile
    from pathlib import Path

    from kurabito import logs, settings
    from kurabito.app import serve
    from kurabito.demo.world import Demo

    folder = Path(tempfile.mkdtemp(prefix="kurabito-demo-"))
    # Side by side: no library may lie in the state folder or around it.
    state, library = folder / "state", folder / "library"

    def say(there: serve.Listening) -> None:
        end_loading()
        if as_json:
            told = {"url": there.url, "login": there.login, "state": str(state), "library": str(library)}
            typer.echo(json.dumps(told))
            return
        typer.echo(f"The demo listens on {there.url}")
        typer.echo(f"Log in with {there.login}")

    stage = Demo(library, folder / "swarm")
    try:
        database = f"sqlite:///{state / 'kurabito.db'}"
        chosen = settings.load(state=state, database=database, port=port, **_SETTINGS, **stage.settings)
        logs.configure(format=chosen.log_format, level=chosen.log_level)
        asyncio.run(serve.serve(chosen, on_listening=say, stage=stage))
    finally:
        if keep:
            typer.echo(f"The data stays in {folder}", err=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)

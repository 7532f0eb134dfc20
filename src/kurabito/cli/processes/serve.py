"""`kurabito serve`: the product."""

from __future__ import annotations

from typing import Annotated

import typer

from kurabito.cli.processes.startup import begin_loading, end_loading


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.", show_default="KURABITO_HOST")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port to listen on.", show_default="KURABITO_PORT")
    ] = None,
    no_dataplane: Annotated[
        bool, typer.Option("--no-dataplane", help="Do not start a data plane: it runs elsewhere, on the same database.")
    ] = False,
    no_downloader: Annotated[
        bool, typer.Option("--no-downloader", help="Do not start the built-in downloader: others run elsewhere.")
    ] = False,
) -> None:
    """Run Kurabito until Ctrl-C or SIGTERM. A second Ctrl-C does not wait.

    All data is in the state folder (`KURABITO_STATE`), which is created if missing. The database is backed up to `backups` in
    it before a new version changes its tables. The printed link logs in one browser, once, within a day.

    The built-in downloader takes what no other downloader takes. The torrent library is loaded with the first torrent.

    Examples:

        kurabito serve

        KURABITO_STATE=/srv/kurabito kurabito serve --port 9000
    """
    begin_loading()

    import asyncio

    from kurabito import logs, settings
    from kurabito.app import serve

    def say(there: serve.Listening) -> None:
        end_loading()
        typer.echo(f"Kurabito listens on {there.url}")
        typer.echo(f"Log in with {there.login}")

    chosen = settings.load(host=host, port=port)
    logs.configure(format=chosen.log_format, level=chosen.log_level)
    asyncio.run(serve.serve(chosen, on_listening=say, dataplane=not no_dataplane, downloader=not no_downloader))

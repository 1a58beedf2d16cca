"""`georecall explore`."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from georecall.cli.output import print_line, print_pairs
from georecall.errors import GeorecallError


def run(
    folder: Annotated[
        Path,
        typer.Argument(help="Folder of a memory, or of a run of one hop.", show_default=False),
    ],
    export: Annotated[
        Path | None,
        typer.Option(help="Write one HTML file that needs no server, instead.", show_default=False),
    ] = None,
    member: Annotated[
        int | None,
        typer.Option(min=0, help="Member of a run to look into; the first by default.", show_default=False),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on this machine; 0 takes a free one.")
    ] = 0,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Look inside a memory or a trained run: a page that shows every step of an answer, on this machine alone.

    Example: `georecall explore memory/ --open`
    """
    if export is not None and (port or open_browser):
        raise GeorecallError("--export serves nothing: --port and --open cannot be given")
    if export is None and force:
        raise GeorecallError("--force replaces a file: it needs --export")
    if export is not None:
        _export(folder, member, export, force)
    else:
        _serve(folder, member, port, open_browser)


def _export(folder: Path, member: int | None, path: Path, force: bool) -> None:
    from georecall.explorer.opening import open_view
    from georecall.explorer.page import export_page
    from georecall.storage.files import check_file

    check_file(path, replace=force)
    export_page(open_view(folder, member=member), path, replace=force)
    print_pairs({"wrote": path, "bytes": f"{path.stat().st_size:,}"})


def _serve(folder: Path, member: int | None, port: int, open_browser: bool) -> None:
    """Serve until Ctrl-C."""
    from georecall.explorer.opening import open_view
    from georecall.explorer.server import ExplorerServer

    with ExplorerServer(open_view(folder, member=member), port=port) as server:
        print_line(f"{server.url} (Ctrl-C ends)")
        if open_browser:
            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print_line()

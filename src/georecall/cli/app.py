"""The list of commands."""

import typer

from georecall.cli import (
    analyze,
    ask,
    bounds,
    capacity,
    compare,
    compile_,
    edit,
    explore,
    forget,
    gguf,
    info,
    probe,
    reproduce,
    sweep,
    train,
    transfer,
    verify,
)

NAMES = {"ignore_unknown_options": True}
"""A name may begin with a hyphen: what is no option is a name."""

app = typer.Typer(
    name="georecall",
    help="Geometric factual recall: a table of facts becomes a transformer, and every claim is measured.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("compile")(compile_.run)
app.command("ask", context_settings=NAMES)(ask.run)
app.command("verify")(verify.run)
app.command("edit", context_settings=NAMES)(edit.run)
app.command("forget", context_settings=NAMES)(forget.run)
app.command("explore")(explore.run)
app.command("gguf")(gguf.run)
app.command("info")(info.run)
app.command("bounds")(bounds.run)
app.command("train")(train.run)
app.command("transfer")(transfer.run)
app.command("capacity")(capacity.run)
app.command("analyze")(analyze.run)
app.command("probe")(probe.run)
app.command("reproduce")(reproduce.run)
app.command("compare")(compare.run)
app.add_typer(sweep.app, name="sweep")

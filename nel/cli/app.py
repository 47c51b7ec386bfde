"""The `nel` command: assembles the commands and turns every error into one line on stderr and an
exit code.

Note: this module is imported for ``nel --help``, so it and the modules of the commands import
nothing slow.
"""

from __future__ import annotations

import sys
from typing import Any

import typer

from nel.cli import (
    baseline,
    benchmark,
    byob,
    compare,
    eval_archive,
    eval_merge,
    eval_reproduce,
    eval_run,
    eval_watch,
    export,
    gate,
    import_results,
    init,
    judge,
    plugin,
    plugin_list,
    report,
    sandbox,
    scorer,
    show,
    verify,
)
from nel.cli.machine_faults import ended_by_plugin, shortage
from nel.cli.other_program import say_other_program
from nel.cli.plugin_commands import PluginGroup
from nel.cli.settings import taking_settings
from nel.cli.streams import discard_stdout, prepare_streams
from nel.cli.usage_words import say_plainly
from nel.errors import EXIT_SIGINT, EXIT_STOPPED_EARLY, EXIT_USAGE, NelError
from nel.version import __version__

_UsageError: Any = typer.BadParameter.__mro__[1]  # Typer exports no more of its own copy of click


class _ErrorsToText:
    """Turns every `NelError` into one line on stderr and its exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)  # type: ignore[misc]
        except _UsageError as error:
            say_plainly(error)
            raise
        except NelError as error:
            typer.echo(f"nel: {error}", err=True)
            say_other_program()
            raise typer.Exit(error.exit_code) from error
        except SystemExit as error:  # nel itself leaves by typer.Exit
            typer.echo(f"nel: {ended_by_plugin(error)}", err=True)
            raise typer.Exit(EXIT_USAGE) from error
        except KeyboardInterrupt as error:
            typer.echo("nel: interrupted", err=True)
            raise typer.Exit(EXIT_SIGINT) from error
        except BrokenPipeError as error:
            discard_stdout()
            raise typer.Exit(1) from error


class _Group(_ErrorsToText, PluginGroup):
    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, the most used one first."""
        return sorted(super().list_commands(ctx), key=lambda name: name != "eval")


class Command(_ErrorsToText, typer.core.TyperCommand):
    """The only command of a program, with the same error handling as `nel`."""


app = typer.Typer(
    cls=_Group,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Evaluate language models behind an endpoint, and get a number that can be trusted.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
eval_run.app.command(name="watch")(eval_watch.watch)
eval_run.app.command(name="archive")(eval_archive.archive)
eval_run.app.command(name="merge")(eval_merge.merge)
eval_run.app.command(
    name="reproduce", cls=taking_settings("--output-dir", "--concurrency", "--timeout")
)(eval_reproduce.reproduce)
app.add_typer(
    eval_run.app, name="eval", cls=PluginGroup, help="Run evaluations, resume them, or watch them."
)
app.command(name="init")(init.init)
app.command(name="compare")(compare.compare)
app.command(name="gate")(gate.gate)
app.add_typer(
    baseline.app, name="baseline", help="Name the results that candidates are compared with."
)
app.command(name="list")(plugin_list.list_plugins)
app.command(name="show")(show.show)
app.add_typer(benchmark.app, name="benchmark", help="Check a benchmark before it is run.")
app.add_typer(byob.app, name="byob", help="Bring your own benchmark: create, validate and ship it.")
app.add_typer(
    judge.app, name="judge", cls=PluginGroup, help="Calibrate a judge, or rank models by one."
)
app.add_typer(scorer.app, name="scorer", help="Audit how scorers read answers.")
app.add_typer(plugin.app, name="plugin", help="Check plugins, or start one.")
app.add_typer(
    sandbox.app, name="sandbox", help="Build, check and clean the sandbox that programs run in."
)
app.command(name="report")(report.report)
app.command(name="export")(export.export)
app.command(name="import")(import_results.import_)
app.command(name="verify")(verify.verify)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"nel {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False,
        *("--version", "-V"),
        callback=_show_version,
        is_eager=True,
        help="Show the version and exit.",
    ),
) -> None:
    pass


def main(command: typer.Typer = app) -> None:
    """Run the command line; what this machine lacks ends it with one line and the exit code that a
    resume continues.
    """
    prepare_streams()
    try:
        command()
    except KeyboardInterrupt:  # before a command was found, or while its output was put together
        print("nel: interrupted", file=sys.stderr)  # noqa: T201 - this is the command line
        sys.exit(EXIT_SIGINT)
    except (OSError, MemoryError, RuntimeError, ImportError) as error:
        line = shortage(error)
        if line is None:
            raise
        discard_stdout()
        print(f"nel: {line}", file=sys.stderr)  # noqa: T201 - this is the command line
        sys.exit(EXIT_STOPPED_EARLY)

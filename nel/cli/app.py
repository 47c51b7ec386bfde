"""The `nel` command: names the commands, and turns errors into a line on stderr and an exit code.

Note: the module of a command is imported when the command is called; ``nel --help`` imports none.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, ClassVar

import typer

from nel.cli.other_program import say_other_program
from nel.cli.plugin_commands import PluginGroup
from nel.cli.streams import discard_stdout, prepare_streams
from nel.errors import EXIT_SIGINT, EXIT_STOPPED_EARLY, EXIT_USAGE, NelError
from nel.version import __version__

_UsageError: Any = typer.BadParameter.__mro__[1]  # Typer exports no more of its own copy of click


class _ErrorsToText:
    """Turns every `NelError` into one line on stderr and its exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)  # type: ignore[misc]
        except _UsageError as error:
            from nel.cli.usage_words import say_plainly  # noqa: PLC0415 - only mistakes need it

            say_plainly(error)
            raise
        except NelError as error:
            typer.echo(f"nel: {error}", err=True)
            say_other_program()
            raise typer.Exit(error.exit_code) from error
        except SystemExit as error:  # nel itself leaves by typer.Exit
            from nel.cli.machine_faults import ended_by_plugin  # noqa: PLC0415 - as above

            typer.echo(f"nel: {ended_by_plugin(error)}", err=True)
            raise typer.Exit(EXIT_USAGE) from error
        except KeyboardInterrupt as error:
            typer.echo("nel: interrupted", err=True)
            raise typer.Exit(EXIT_SIGINT) from error
        except BrokenPipeError as error:
            discard_stdout()
            raise typer.Exit(1) from error


class _Group(_ErrorsToText, PluginGroup):
    modules: ClassVar[Mapping[str, str]] = {
        "eval": "nel.cli.eval_run:app",
        "init": "nel.cli.init:init",
        "compare": "nel.cli.compare:compare",
        "gate": "nel.cli.gate:gate",
        "list": "nel.cli.plugin_list:list_plugins",
        "show": "nel.cli.show:show",
        "report": "nel.cli.report:report",
        "export": "nel.cli.export:export",
        "import": "nel.cli.import_results:import_",
        "verify": "nel.cli.verify:verify",
        "docs": "nel.cli.docs:docs",
        "baseline": "nel.cli.baseline:app",
        "benchmark": "nel.cli.benchmark:app",
        "judge": "nel.cli.judge:app",
        "scorer": "nel.cli.scorer:app",
        "plugin": "nel.cli.plugin:app",
        "sandbox": "nel.cli.sandbox:app",
    }


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


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"nel {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False,
        "--version",
        "-V",
        callback=_show_version,
        is_eager=True,
        help="Show the version and exit.",
    ),
) -> None:
    pass


def main(command: typer.Typer = app) -> None:
    """Run the command line.

    A shortage of this machine ends it with one line and `EXIT_STOPPED_EARLY`: a resume continues.
    """
    prepare_streams()
    try:
        command()
    except KeyboardInterrupt:  # before a command was found, or while its output was put together
        print("nel: interrupted", file=sys.stderr)  # noqa: T201 - this is the command line
        sys.exit(EXIT_SIGINT)
    except (OSError, MemoryError, RuntimeError, ImportError) as error:
        from nel.cli.machine_faults import shortage  # noqa: PLC0415 - only a fault needs it

        line = shortage(error)
        if line is None:
            raise
        discard_stdout()
        print(f"nel: {line}", file=sys.stderr)  # noqa: T201 - this is the command line
        sys.exit(EXIT_STOPPED_EARLY)

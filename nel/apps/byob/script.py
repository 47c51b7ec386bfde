"""`nel-byob`: NeMo Evaluator's command of that name and its flags, by means of `nel byob`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nel.apps.byob import command as byob
from nel.cli.app import Command
from nel.cli.app import main as run_app
from nel.errors import ConfigError

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)


@app.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
def byob_command(
    file: Annotated[Path | None, typer.Argument(help="The Python file to compile.")] = None,
    show_list: Annotated[
        bool, typer.Option("--list", help="List the installed packages instead.")
    ] = False,
    output_dir: byob.OutputDir = None,
    dry_run: byob.DryRun = False,
    no_install: byob.NoInstall = False,
    check_requirements: byob.CheckRequirements = False,
    containerize: Annotated[
        bool, typer.Option("--containerize", help="Build a Docker image of it.")
    ] = False,
    base_image: byob.BaseImage = None,
    tag: byob.Tag = None,
    platform: byob.Platform = None,
    push: byob.Push = None,
) -> None:
    """Make a plugin package of a benchmark file and install it, or build an image of it.

    The same and more is in nel byob: new, validate, compile, list, containerize.
    """
    if show_list:
        byob.show_installed(as_json=False)
        return
    if file is None:
        raise ConfigError(
            "name the benchmark file to compile, or give --list; nel-byob --help has all flags"
        )
    if containerize or push:
        byob.containerize(
            file, base_image=base_image, tag=tag, platform=platform, push=push, dry_run=dry_run
        )
        return
    byob.compile_benchmark(file, output_dir, dry_run, no_install, check_requirements)


def main() -> None:
    """Run `nel-byob`."""
    run_app(app)

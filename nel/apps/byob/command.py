"""`nel byob`: create a benchmark, validate it, and ship it as a package or an image."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from nel.apps.byob.new import new
from nel.apps.byob.output import show_compiled
from nel.apps.byob.shipping.compilation import compile_file
from nel.apps.byob.shipping.image import containerize as build
from nel.apps.byob.shipping.install import installed_packages
from nel.cli.benchmark import check
from nel.cli.options import AsJson
from nel.cli.terminal import plain
from nel.core.strict_json import dumps

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Bring your own benchmark: create, validate and ship it.",
)
app.command()(new)
app.command(name="validate")(check)

File = Annotated[Path, typer.Argument(help="A Python file with @benchmark around @scorer.")]
OutputDir = Annotated[
    Path | None,
    typer.Option(
        "--output-dir", "-o", help="Folder for the package; byob_packages beside the file."
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Check everything and write nothing.")]
NoInstall = Annotated[
    bool, typer.Option("--no-install", help="Write the package and do not install it.")
]
CheckRequirements = Annotated[
    bool,
    typer.Option("--check-requirements", help="Fail when a declared requirement is not installed."),
]
BaseImage = Annotated[str | None, typer.Option(help="Base image, with Python 3.11 or newer.")]
Tag = Annotated[
    str | None, typer.Option(help="Name of the image; byob_NAME:latest. The platform is appended.")
]
Platform = Annotated[
    str | None, typer.Option(help="Such as linux/amd64; the Docker engine's own by default.")
]
Push = Annotated[
    str | None, typer.Option(metavar="REGISTRY/IMAGE:TAG", help="Push the image there.")
]


@app.command(name="compile")
def compile_benchmark(
    file: File,
    output_dir: OutputDir = None,
    dry_run: DryRun = False,
    no_install: NoInstall = False,
    check_requirements: CheckRequirements = False,
) -> None:
    """Make a plugin package of a benchmark file, install it, and print the command that runs it."""
    show_compiled(
        compile_file(
            file,
            output_dir=output_dir,
            dry_run=dry_run,
            with_install=not no_install,
            with_requirements=check_requirements,
        )
    )


@app.command()
def containerize(
    file: File,
    base_image: BaseImage = None,
    tag: Tag = None,
    platform: Platform = None,
    push: Push = None,
    dry_run: DryRun = False,
) -> None:
    """Build a Docker image of nel with the benchmarks of a file."""
    image = build(
        file,
        base=base_image,
        tag=tag,
        platform=platform,
        push=push,
        dry_run=dry_run,
        log=partial(typer.echo, err=True),
    )
    if image.size_bytes is None:
        typer.echo(f"would build {image.tag} of {image.base} with {', '.join(image.benchmarks)}")
        typer.echo("dry run: nothing was built")
        return
    note = ", and pushed it" if image.pushed else ""
    typer.echo(f"built {image.tag}, {image.size_bytes / 1e6:.0f} MB{note}")
    run = "eval run --bench {} --model-url https://HOST/v1 --model-id NAME --api-key-env MY_KEY"
    for name in image.benchmarks:
        typer.echo(
            '\nrun it:  docker run --rm -e MY_KEY -v "$PWD/eval_results:/data/eval_results"'
            f" {image.tag} {run.format(name)}"
        )


@app.command(name="list")
def list_compiled(as_json: AsJson = False) -> None:
    """List the compiled benchmark packages that are installed here."""
    show_installed(as_json=as_json)


def show_installed(*, as_json: bool) -> None:
    """Print the compiled packages of this environment."""
    packages = installed_packages()
    if as_json:
        typer.echo(dumps(list(map(asdict, packages))))
        return
    if not packages:
        typer.echo(
            "no compiled benchmark package is installed; make one with: nel byob compile FILE"
        )
    for package in packages:
        version = f"{package.distribution} {package.version}"
        typer.echo(plain(f"{', '.join(package.benchmarks)}  {version}  {package.summary}"))

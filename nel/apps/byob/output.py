"""What the commands of `nel byob` print of a compilation."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

import typer

from nel.apps.byob.shipping.compilation import CompiledPackage
from nel.apps.byob.shipping.install import uninstall_command
from nel.apps.byob.shipping.package import run_command


def show_compiled(compiled: CompiledPackage) -> None:
    """Print the result of a compilation and the next command."""
    package = compiled.package
    verb = "wrote" if compiled.written else "would write"
    typer.echo(f"{package.distribution} {package.version}: {', '.join(package.entry_points)}")
    for name, data in package.files.items():
        typer.echo(f"  {name}  {len(data):,} bytes")
    typer.echo(f"  depends on {', '.join(package.dependencies)}")
    for check in compiled.requirements:
        version = f" by {check.installed}" if check.installed else ""
        typer.echo(f"  {check.requirement} is met{version}")
    typer.echo(f"{verb} {_near(compiled.directory)}")
    typer.echo(f"{verb} {_near(compiled.wheel)}")
    for note in package.notes:
        typer.echo(f"nel: note: {note}", err=True)
    if not compiled.written:
        typer.echo("dry run: nothing was written or installed")
        return
    if compiled.installed:
        typer.echo(f"installed; remove it with: {uninstall_command(package.distribution)}")
    else:
        wheel = quote(_near(compiled.wheel))
        typer.echo(f"\ninstall it:  python -m pip install {wheel}")
        typer.echo(
            "where nel is not installed, with a checkout of nel:  python -m pip install CHECKOUT"
            f" {wheel}"
        )
    for name in package.entry_points:
        typer.echo(f"\nrun it:  {run_command(name)}")


def _near(path: Path) -> str:
    """Return a path relative to the current directory where it is below it, else as given."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)

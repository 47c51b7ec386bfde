"""`nel eval submit`: write the files that run a benchmark in shards on a scheduler."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from nel.apps.cluster.writing import SchedulerTarget, write_submission
from nel.cli.options import ConfigFile
from nel.cli.run_layers import config_of
from nel.cli.settings import chosen_settings, taking_settings
from nel.cli.terminal import plain
from nel.errors import UsageError

app = typer.Typer(add_completion=False, rich_markup_mode=None)

Scheduler = Annotated[
    Literal["slurm", "kubernetes"], typer.Option("--to", help="Where the shards run.")
]
Shards = Annotated[
    int, typer.Option("--shards", min=1, help="How many parts the run is divided into.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Write the files; submit and send nothing.")
]
SlurmOptions = Annotated[
    list[str] | None,
    typer.Option(help="Slurm: a further option, as --sbatch=--partition=NAME; repeatable."),
]
Image = Annotated[str | None, typer.Option(help="Kubernetes: the image with nel.")]
VolumeClaim = Annotated[
    str | None,
    typer.Option(help="Kubernetes: the PersistentVolumeClaim that runs are written to."),
]
Secret = Annotated[
    str | None,
    typer.Option(help="Kubernetes: the Secret with the keys, each under the name of its variable."),
]
Namespace = Annotated[str | None, typer.Option(help="Kubernetes: where the jobs are made.")]


@app.command(cls=taking_settings())
def submit(
    ctx: typer.Context,
    config: ConfigFile = None,
    *,
    to: Scheduler,
    shards: Shards,
    dry_run: DryRun = False,
    sbatch: SlurmOptions = None,
    image: Image = None,
    volume_claim: VolumeClaim = None,
    secret: Secret = None,
    namespace: Namespace = None,
) -> None:
    """Write what runs a benchmark in shards on Slurm or Kubernetes and merges them: scripts or
    manifests.

    Every limit is divided by the number of shards, or shared through --limiter. nel submits nothing
    by itself: --dry-run writes the files, and submit.sh among them hands them over.
    """
    if not dry_run:
        raise UsageError(
            "nel submits nothing by itself; add --dry-run, which writes the files, then run"
            " submit.sh"
        )
    target = SchedulerTarget(
        options=tuple(sbatch or ()),
        image=image,
        claim=volume_claim,
        secret=secret,
        namespace=namespace,
    )
    submission = write_submission(config_of(config, chosen_settings(ctx)), to, shards, target)
    for path in submission.files:
        typer.echo(plain(str(path)))
    for line in submission.limits:
        typer.echo(plain(line))
    for note in submission.notes:
        typer.echo(f"nel: {plain(note)}", err=True)
    typer.echo("dry run: nothing was submitted or sent; to submit:")
    typer.echo(f"  {plain(str(submission.directory / 'submit.sh'))}")

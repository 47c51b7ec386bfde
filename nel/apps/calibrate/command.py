"""`nel judge calibrate`: draws judged answers for human labels, and measures the judge by them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nel.apps.calibrate.show import show_calibration
from nel.cli.options import RunDir
from nel.errors import UsageError


def calibrate(
    run_dir: RunDir,
    bench: Annotated[
        str | None, typer.Option(help="The benchmark, where several were judged.")
    ] = None,
    labels: Annotated[
        list[Path] | None,
        typer.Option(
            help=(
                "The labelled file, .csv or .jsonl, or one for each annotator; without it one is"
                " created."
            )
        ),
    ] = None,
    source_run: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="A calibrated run of the same benchmark and judge, whose labels are used.",
        ),
    ] = None,
    n: Annotated[
        int, typer.Option("--n", help="Answers to draw for labelling.", min=1, max=1_000_000)
    ] = 200,
    out: Annotated[
        Path | None,
        typer.Option(help="The file to create, .csv or .jsonl; BENCH-to-label.csv in the run."),
    ] = None,
) -> None:
    """Draw judged answers for human labels; or, with --labels, measure the judge by them and
    correct the score.
    """
    if sum(map(bool, (labels, out, source_run))) > 1:
        raise UsageError(
            "--out is the file to label, --labels the labelled one, --from a run; give one of them"
        )
    show_calibration(run_dir, bench, labels=labels or [], source_run=source_run, out=out, n_max=n)

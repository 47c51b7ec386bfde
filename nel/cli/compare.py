"""`nel compare`: two or more finished evaluations in, verdicts on the difference out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nel.cli.baseline import Named
from nel.cli.compare_show import show_comparison
from nel.cli.finite import finite
from nel.cli.options import ComparisonAsJson
from nel.comparison.measures import Settings

FLIPS_MAX = 1000

Sides = Annotated[
    list[str],
    typer.Argument(
        metavar="BASELINE CANDIDATE...",
        help=(
            "Run directories, NeMo Evaluator result folders or lm-eval sample files; NAME=PATH"
            " names one."
        ),
    ),
]
Despite = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PART",
        help=(
            "Compare although this differs: dataset, prompt, scorer, judge, decoding, repeats or"
            " pairing; repeatable."
        ),
    ),
]
Benches = Annotated[
    list[str] | None, typer.Option("--bench", "-b", help="Only this benchmark; repeatable.")
]
Margin = Annotated[
    float,
    typer.Option(
        min=0.0,
        callback=finite,
        help="The largest difference that does not matter, as a score: 0.01 is one point.",
    ),
]
Seed = Annotated[
    int, typer.Option(min=0, help="Of random sign flips, where there are too many to count.")
]


def compare(
    sides: Sides,
    baseline: Named = None,
    despite: Despite = None,
    bench: Benches = None,
    margin: Margin = 0.0,
    level: Annotated[
        float, typer.Option(min=0.6, max=0.9999, help="Level of the intervals.")
    ] = 0.95,
    seed: Seed = 0,
    flips: Annotated[
        int,
        typer.Option(
            min=0, help="So many changed samples of each benchmark are in --json and --html."
        ),
    ] = FLIPS_MAX,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a self-contained page.")
    ] = None,
    as_json: ComparisonAsJson = False,
) -> None:
    """Compare candidates with a baseline, sample by sample.

    Says of each benchmark whether the candidate is better, worse or equivalent (within --margin),
    or that it cannot be told, and shows the samples that changed. Runs with unequal datasets,
    prompts, scorers, judges or decoding are refused.

    Exit codes: 0 compared, whatever the verdict (nel gate decides); 2 cannot be compared.
    """
    show_comparison(
        sides,
        Settings(margin=margin, level=level, seed=seed),
        flips=flips,
        as_json=as_json,
        baseline=baseline,
        despite=despite or (),
        only=bench or (),
        html=html,
    )

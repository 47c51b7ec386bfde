"""`nel power`: how many questions, repeats and labels a comparison needs, and what they take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nel.apps.power.document import PowerRequest
from nel.apps.power.pilots import Assumptions
from nel.apps.power.tables import show_power
from nel.cli.finite import finite
from nel.decide.power import ALPHA

Runs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[BASELINE [CANDIDATE]]",
        help=(
            "One earlier run, or two whose difference varies as the planned one will. None:"
            " assumptions alone."
        ),
    ),
]
Repeats = Annotated[
    list[int] | None,
    typer.Option(min=1, help="Answers to a question; repeatable. Default: 1, 2, 4, 8."),
]
Correlation = Annotated[
    float | None,
    typer.Option(min=-1.0, max=1.0, help="Assume this between both models' scores. [0.5]"),
]
Within = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        callback=finite,
        help="Assume this variance of the answers to one question. Default: the run's.",
    ),
]
Discordant = Annotated[
    float | None,
    typer.Option(min=0.0, max=1.0, help="Assume that one alone is right on this share."),
]
JudgeCorrelation = Annotated[
    float | None,
    typer.Option(
        min=0.0, max=1.0, help="Plan people's labels for a judge that correlates so with them."
    ),
]
OneSided = Annotated[
    bool, typer.Option(help="Plan for a gate: the effect is the distance to the margin.")
]
Price = Annotated[
    float | None, typer.Option(min=0.0, callback=finite, help="For a million tokens.")
]


Alpha = Annotated[
    float | None,
    typer.Option(
        min=1e-6,
        max=0.5,
        help="How likely chance may look like one. [0.05; 0.025 with --one-sided, as for a gate]",
    ),
]
Effect = Annotated[
    float,
    typer.Option(
        min=0.0, callback=finite, help="The least difference to find: 0.02 is two points."
    ),
]
Probability = Annotated[
    float, typer.Option("--power", min=0.01, max=0.9999, help="How likely it shall be found.")
]
Bench = Annotated[
    str | None, typer.Option("--bench", "-b", help="The benchmark, where there are several.")
]
QuestionCount = Annotated[
    int | None, typer.Option(min=2, help="How many there are. Default: the run's.")
]
Score = Annotated[
    float | None, typer.Option(min=0.0, max=1.0, help="Assume this mean score of both.")
]
Svg = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the power curves as a picture.")
]


def power(
    runs: Runs = None,
    effect: Effect = 0.02,
    probability: Probability = 0.8,
    alpha: Alpha = None,
    one_sided: OneSided = False,
    repeats: Repeats = None,
    bench: Bench = None,
    questions: QuestionCount = None,
    score: Score = None,
    correlation: Correlation = None,
    within: Within = None,
    discordant: Discordant = None,
    judge_correlation: JudgeCorrelation = None,
    price_input: Price = None,
    price_output: Price = None,
    svg: Svg = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
) -> None:
    """Plan a comparison: questions, repeats, tokens, money and hours for the difference that shall
    be found.
    """
    assumptions = Assumptions(
        score=score,
        correlation=correlation,
        within=within,
        discordant=discordant,
        questions=questions,
    )
    error = alpha
    if error is None:  # the level of a gate is two-sided
        error = ALPHA / 2 if one_sided else ALPHA
    request = PowerRequest(
        effect=effect,
        alpha=error,
        power=probability,
        two_sided=not one_sided,
        repeats=sorted(set(repeats or ())),
        judge_correlation=judge_correlation,
    )
    prices = {"input": price_input, "output": price_output}
    show_power(runs or [], bench, assumptions, prices, request, svg=svg, as_json=as_json)

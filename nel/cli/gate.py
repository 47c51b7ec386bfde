"""`nel gate`: a candidate against a baseline by a policy, or one run against floors.

The decision is GO, NO-GO or INCONCLUSIVE.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nel.cli.baseline import Named
from nel.cli.compare import Despite, Seed
from nel.cli.gate_show import show_floors, show_gate
from nel.cli.settings import FailUnder
from nel.comparison.baselines import with_baseline


def gate(
    sides: Annotated[
        list[str],
        typer.Argument(
            metavar="BASELINE CANDIDATE",
            help="As for nel compare; one run alone with --fail-under.",
        ),
    ],
    policy: Annotated[
        Path | None,
        typer.Option("--policy", "-p", metavar="FILE", help="What is demanded, a YAML file."),
    ] = None,
    baseline: Named = None,
    fail_under: FailUnder = None,
    despite: Despite = None,
    seed: Seed = 0,
    output_dir: Annotated[
        Path | None,
        typer.Option(
            "--output-dir",
            "-o",
            metavar="DIR",
            help=(
                "Where decision.json, decision.md and decision.junit.xml go. Default: the"
                " candidate's directory."
            ),
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the decision as JSON.")] = False,
) -> None:
    """Decide whether a candidate may go: GO, NO-GO or INCONCLUSIVE.

    Decided on the ends of intervals, never on the point; what was not measured is never GO.

    Exit codes: 0 GO; 2 cannot be decided on; 4 NO-GO; 5 INCONCLUSIVE.
    """
    if fail_under:
        of_two_runs = (policy, baseline, despite)
        show_floors(
            sides, fail_under, of_two_runs=of_two_runs, output_dir=output_dir, as_json=as_json
        )
    else:
        sides = with_baseline(baseline, sides)
        show_gate(sides, policy, despite or [], seed=seed, output_dir=output_dir, as_json=as_json)

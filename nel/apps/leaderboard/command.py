"""`nel leaderboard`: runs ranked by the scores of their rules, with intervals of ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nel.apps.leaderboard.standings_tables import show_standings
from nel.cli.compare import Benches, Despite, Seed


def leaderboard(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN RUN...",
            help="As for nel compare; a directory over several endpoints stands for all.",
        ),
    ],
    despite: Despite = None,
    bench: Benches = None,
    level: Annotated[
        float, typer.Option(min=0.6, max=0.9999, help="All rank intervals hold at once with this.")
    ] = 0.95,
    seed: Seed = 0,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a self-contained page.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the leaderboard as JSON.")] = False,
) -> None:
    """Rank runs by their scores, with the ranks that each may have.

    Every pair of runs is compared sample by sample on every benchmark that all have, as nel compare
    does; a judge is not needed (nel judge leaderboard asks one).

    Exit codes: 0 ranked; 2 cannot be compared; 75 ranked without a run of a directory over several
    endpoints that is not finished.
    """
    show_standings(
        runs, despite or [], bench or [], level=level, seed=seed, html=html, as_json=as_json
    )

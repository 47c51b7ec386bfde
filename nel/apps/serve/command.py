"""`nel serve`: serve a benchmark over HTTP, so that a training loop is scored by what evaluates
the model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nel.apps.serve.start import ServeOptions, scoring_in, start
from nel.cli.options import Host, Port, TokenEnv
from nel.cli.settings import JUDGE_FLAGS, chosen_settings, taking_settings

serve = typer.Typer(add_completion=False, rich_markup_mode=None)


@serve.command(cls=taking_settings(*JUDGE_FLAGS))
def _serve(
    ctx: typer.Context,
    bench: Annotated[
        str, typer.Option("--bench", "--benchmark", "-b", help="A benchmark's name, or its file.")
    ],
    dataset: Annotated[
        str | None, typer.Option(help="Read instead of the benchmark's own.")
    ] = None,
    max_problems: Annotated[
        int | None, typer.Option(min=1, help="Only the first so many rows.")
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 9090,
    token_env: TokenEnv = None,
    export_data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write all samples as JSON lines for NeMo Gym first."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A run's configuration, for its judges and sandbox."),
    ] = None,
    judge_timeout: Annotated[
        float, typer.Option(min=0.1, max=86400, help="Seconds for scoring and judging one answer.")
    ] = 300.0,
    scorer_timeout: Annotated[
        float, typer.Option(min=0.1, max=86400, help="Seconds for scoring one answer.")
    ] = 60.0,
) -> None:
    """Serve a benchmark for training: /seed_session gives a sample, /verify the reward of an
    answer.

    Scorers and judges are those of a run. An answer that cannot be scored is an error of HTTP and
    never a reward of 0.
    """
    choice = chosen_settings(ctx)
    options = ServeOptions(
        benchmark=bench,
        dataset=dataset,
        samples_max=max_problems,
        host=host,
        port=port,
        token_env=token_env,
        export_dir=export_data,
        timeout_seconds=scorer_timeout,
        scoring=scoring_in(config),
        flags=choice.settings,
        overrides=choice.overrides,
        judge_timeout_seconds=judge_timeout,
    )
    start(options, say=typer.echo)

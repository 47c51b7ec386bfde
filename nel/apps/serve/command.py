"""`nel serve`: a benchmark over HTTP, so that a training loop is scored by what evaluates the
model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def serve(
    bench: Annotated[
        str, typer.Option("--bench", "--benchmark", "-b", help="A benchmark's name, or its file.")
    ],
    dataset: Annotated[
        str | None, typer.Option(help="Read instead of the benchmark's own.")
    ] = None,
    max_problems: Annotated[
        int | None, typer.Option(min=1, help="Only the first so many rows.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            "--port", "-p", min=0, max=65535, help="Port to listen on; 0 picks a free one."
        ),
    ] = 9090,
    token_env: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Environment variable with the token that clients must send."
        ),
    ] = None,
    export_data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write all samples as JSON lines for NeMo Gym first."),
    ] = None,
    judge_url: Annotated[
        list[str] | None, typer.Option(help="Base URL of the judge; repeatable, or one for all.")
    ] = None,
    judge_id: Annotated[
        list[str] | None, typer.Option(help="Name of the judging model; several make a panel.")
    ] = None,
    judge_api_key_env: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Variable that holds the judge's key.")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A run's configuration, of which the judges are taken."),
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
    from nel.apps.serve.start import (  # noqa: PLC0415 - keeps `nel --help` fast
        ServeOptions,
        judging_of,
        start,
    )

    options = ServeOptions(
        benchmark=bench,
        dataset=dataset,
        samples_max=max_problems,
        host=host,
        port=port,
        token_env=token_env,
        export_dir=export_data,
        timeout_seconds=scorer_timeout,
        judging=judging_of(config, urls=judge_url, models=judge_id, key_names=judge_api_key_env),
        judge_timeout_seconds=judge_timeout,
    )
    start(options, say=typer.echo)

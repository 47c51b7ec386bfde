"""`nel eval run`, `resume` and `score`: flags and YAML in, a table or JSON out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from nel.cli.options import ConfigFile, ResultAsJson, RunDir, resumed_path
from nel.cli.plugin_commands import group_with
from nel.cli.settings import (
    JUDGE_FLAGS,
    MODEL_FLAGS,
    FailUnder,
    chosen_settings,
    taking_settings,
)
from nel.core.forked_map import collection_paused
from nel.engine.process_limits import check_memory
from nel.errors import UsageError

app = typer.Typer(
    cls=group_with(
        salvage="nel.cli.eval_salvage:salvage",
        watch="nel.cli.eval_watch:watch",
        archive="nel.cli.eval_archive:archive",
        merge="nel.cli.eval_merge:merge",
        reproduce="nel.cli.eval_reproduce:app",
    ),
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Run evaluations, resume them, or watch them.",
)

AllowUrlChange = Annotated[bool, typer.Option("--allow-url-change", help="Resume at another URL.")]
AllowJudgeChange = Annotated[
    bool,
    typer.Option(
        "--allow-judge-change",
        help="Resume with another judge, which judges all stored answers again.",
    ),
]
Pilot = Annotated[
    str | None,
    typer.Option(
        metavar="RUN|STEPS",
        help="With --dry-run: estimate episodes by an earlier run, or a number of steps.",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="No progress, and no notes beside the result unless the exit code is not 0.",
    ),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose", "-v", help="Show what happens: retries, rate limits, outages, stages."
    ),
]


@app.command(name="run", cls=taking_settings())
def run(
    ctx: typer.Context,
    config: ConfigFile = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the last run in the output directory.")
    ] = False,
    allow_url_change: AllowUrlChange = False,
    allow_judge_change: AllowJudgeChange = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the plan and an estimate; send nothing.")
    ] = False,
    pilot: Pilot = None,
    fail_under: FailUnder = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: ResultAsJson = False,
) -> None:
    """Run benchmarks against an endpoint and write a run directory.

    Exit codes: 0 done; 2 wrong usage or configuration; 3 done, but samples are unscored or a metric
    failed; 4 or 5 done and NO-GO or INCONCLUSIVE by --fail-under; 75 stopped early, resumable; 130
    and 143 interrupted, resumable.
    """
    from nel.cli.run_layers import layers_of  # noqa: PLC0415 - keeps `nel eval --help` fast

    check_memory()
    verbosity = verbosity_of(quiet=quiet, verbose=verbose)
    layers = layers_of(config, chosen_settings(ctx))
    resolved = layers.build()
    several = bool(resolved.endpoints)
    if resolved.shard is not None and fail_under:
        raise UsageError(
            f"--fail-under decides on a whole run, and this is shard {resolved.shard}; put the"
            " shards together with nel eval merge, then nel gate OUT --fail-under METRIC=VALUE"
        )
    if dry_run:
        show_plan = _preview_command(several=several)
        show_plan(resolved, as_json=as_json, values=layers.values(), pilot=pilot)
        return
    if pilot is not None:
        raise UsageError("--pilot estimates what a run takes; give it with --dry-run")
    # A setting that the user made once, long ago, is easily forgotten.
    if rows := layers.user_settings():
        texts = [f"{row.key} ({row.source})" for row in rows]
        typer.echo(f"nel: set for all runs: {', '.join(texts)}", err=True)
    show = _run_command(several=several)
    show(
        resolved,
        resume=resume,
        as_json=as_json,
        allowed=allowed_changes(url=allow_url_change, judge=allow_judge_change),
        fail_under=fail_under or (),
        verbosity=verbosity,
    )


@app.command(name="score", cls=taking_settings("--scorer", "--executor"))
def score(
    ctx: typer.Context,
    run_dir: RunDir,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Score nothing; show how the answer to this sample was read, and why.",
        ),
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: ResultAsJson = False,
) -> None:
    """Score the stored answers of a run again, without a single request."""
    check_memory()
    chosen = chosen_settings(ctx)
    if explain is not None:
        from nel.cli.eval_explain import show_explanation  # noqa: PLC0415 - keeps --help fast

        if chosen.settings or chosen.overrides:
            raise UsageError(
                "--explain shows how stored answers are read and scores none; leave --scorer and -O"
                " out"
            )
        show_explanation(run_dir, explain, as_json=as_json)
        return
    from nel.cli.eval_show import show_rescored  # noqa: PLC0415 - keeps --help fast

    show_rescored(
        run_dir, chosen, as_json=as_json, verbosity=verbosity_of(quiet=quiet, verbose=verbose)
    )


@app.command(
    name="resume",
    cls=taking_settings(
        *MODEL_FLAGS,
        *("--timeout", "--concurrency", "--requests-per-minute", "--tokens-per-minute"),
        *("--max-cost", "--max-tokens-total", "--max-requests"),
        *JUDGE_FLAGS,
        *("--executor", "--limiter", "--limiter-token-env"),
    ),
)
def resume_run(
    ctx: typer.Context,
    run_dir: Annotated[
        Path,
        typer.Argument(
            metavar="RUN_DIR", parser=resumed_path, help="The directory or URL of the run."
        ),
    ],
    allow_url_change: AllowUrlChange = False,
    allow_judge_change: AllowJudgeChange = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: ResultAsJson = False,
) -> None:
    """Continue a run with the configuration it was started with; a judge may be added to one that
    had none.

    Until the first answer is stored every setting may change, such as a model or a URL that was
    named wrongly. Of a directory with the runs of several endpoints, all are continued.
    """
    check_memory()
    from nel.runs.evaluation import stored_config  # noqa: PLC0415 - keeps --help fast
    from nel.runs.matrix import check_alone, is_matrix, stored_matrix  # noqa: PLC0415

    chosen = chosen_settings(ctx)
    several = is_matrix(run_dir)
    if not several:
        check_alone(run_dir)
    read_config = stored_matrix if several else stored_config
    config = read_config(run_dir, settings=chosen.settings, overrides=chosen.overrides)
    _run_command(several=several)(
        config,
        resume=True,
        as_json=as_json,
        allowed=allowed_changes(url=allow_url_change, judge=allow_judge_change),
        verbosity=verbosity_of(quiet=quiet, verbose=verbose),
    )


def verbosity_of(*, quiet: bool, verbose: bool) -> int:
    """Return -1 for quiet, 1 for verbose, else 0.

    Raises:
        UsageError: Both are set.
    """
    if quiet and verbose:
        raise UsageError("--quiet and --verbose exclude each other; leave one out")
    return verbose - quiet  # True counts 1


def _run_command(*, several: bool) -> Callable[..., None]:
    """Return the function that runs one or several endpoints; the other one is not imported."""
    with collection_paused():  # what an import makes stays: searching it for cycles finds none
        if several:
            from nel.cli.matrix_show import show_matrix  # noqa: PLC0415 - keeps other runs fast

            return show_matrix
        from nel.cli.eval_show import show_run  # noqa: PLC0415

        return show_run


def _preview_command(*, several: bool) -> Callable[..., None]:
    if several:
        from nel.cli.matrix_show import show_matrix_preview  # noqa: PLC0415

        return show_matrix_preview
    from nel.cli.plan_table import show_preview  # noqa: PLC0415

    return show_preview


def allowed_changes(*, url: bool, judge: bool) -> frozenset[str]:
    """Return the fields of a run's identity that the flags of a resume let change."""
    is_allowed = {"endpoint.url": url, "judge": judge}
    return frozenset(name for name in is_allowed if is_allowed[name])

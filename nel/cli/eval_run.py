"""`nel eval run` and `nel eval resume`: flags and YAML in, a table or JSON out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nel.cli.flags import allowed_changes, configured, panel_of
from nel.cli.judge_flags import JudgeIds, JudgeKeys, JudgeUrls

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.command(name="run")
def run(
    config: Annotated[Path | None, typer.Argument(help="A YAML configuration; flags win over it.")] = None,
    bench: Annotated[
        list[str] | None, typer.Option("--bench", "-b", help="Benchmark name, path.py or lm-eval://TASK; repeatable.")
    ] = None,
    model_url: Annotated[str | None, typer.Option(help="Base URL or full path of the endpoint.")] = None,
    model_id: Annotated[str | None, typer.Option(help="The model's name at the endpoint.")] = None,
    api_key_env: Annotated[str | None, typer.Option(help="Name of the variable that holds the key.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Path or URI that replaces the benchmark's source.")] = None,
    response_field: Annotated[
        str | None, typer.Option(help="Score the answers in this field; no endpoint is called.")
    ] = None,
    num_fewshot: Annotated[int | None, typer.Option(help="Solved examples before each problem.")] = None,
    fewshot_dataset: Annotated[str | None, typer.Option(help="Path or URI of those examples.")] = None,
    max_problems: Annotated[int | None, typer.Option(help="Only the first N problems.")] = None,
    repeats: Annotated[int | None, typer.Option("--repeats", "-n", help="Answers asked for each problem.")] = None,
    concurrency: Annotated[int | None, typer.Option(help="Requests in flight at once.")] = None,
    requests_per_minute: Annotated[float | None, typer.Option(help="Never more, whatever the endpoint says.")] = None,
    tokens_per_minute: Annotated[float | None, typer.Option(help="Never more, prompts and answers together.")] = None,
    max_cost: Annotated[float | None, typer.Option(help="Hard cap; needs budget.prices and --max-tokens.")] = None,
    max_tokens_total: Annotated[int | None, typer.Option(help="Hard cap over the run; needs --max-tokens.")] = None,
    max_requests: Annotated[int | None, typer.Option(help="Hard cap over the run, retries included.")] = None,
    cache: Annotated[str | None, typer.Option(help="Directory of answers kept from run to run.")] = None,
    stream: Annotated[bool, typer.Option("--stream", help="Stream answers; measures the time to first token.")] = False,
    temperature: Annotated[float | None, typer.Option(help="Sent when given.")] = None,
    top_p: Annotated[float | None, typer.Option(help="Sent when given.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Sent when given.")] = None,
    stop: Annotated[list[str] | None, typer.Option(help="Stop string; repeatable.")] = None,
    seed: Annotated[int | None, typer.Option(help="Sent when given; repeat k sends seed + k.")] = None,
    system_prompt: Annotated[str | None, typer.Option(help="Replaces the benchmark's own.")] = None,
    scorer: Annotated[
        str | None, typer.Option(help="NAME or NAME:key=value,... instead of the benchmark's own scorer.")
    ] = None,
    reducer: Annotated[
        list[str] | None, typer.Option(help="Over repeats, beside the mean: pass_at_3, max, vote_at_5; repeatable.")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="NAME or NAME:key=value,... over all samples; repeatable.")
    ] = None,
    judge_url: JudgeUrls = None,
    judge_id: JudgeIds = None,
    judge_api_key_env: JudgeKeys = None,
    judge_template: Annotated[
        str | None, typer.Option(help="Where the benchmark leaves it open: an installed judge, or a template's text.")
    ] = None,
    judge_criteria: Annotated[str | None, typer.Option(help="What the judge is to look at.")] = None,
    judge_repeats: Annotated[int | None, typer.Option(help="How often each judge is asked the same.")] = None,
    truncated: Annotated[
        str | None, typer.Option(help="failure (counts 0, the default) or score (as it stands).")
    ] = None,
    send_sample_id: Annotated[bool, typer.Option("--send-sample-id", help="Send X-Nel-Sample-Id, for replay.")] = False,
    sandbox_workers: Annotated[
        int | None, typer.Option(help="Containers at once, for benchmarks that ask for code.")
    ] = None,
    output_dir: Annotated[str | None, typer.Option("--output-dir", "-o", help="Where runs are written.")] = None,
    run_id: Annotated[str | None, typer.Option(help="Name of the run's directory.")] = None,
    metrics_port: Annotated[
        int | None, typer.Option(help="Serve Prometheus metrics on this port of 127.0.0.1 meanwhile.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the last run in the output directory.")] = False,
    allow_url_change: Annotated[bool, typer.Option("--allow-url-change", help="Resume at another URL.")] = False,
    allow_judge_change: Annotated[
        bool, typer.Option("--allow-judge-change", help="Resume with another judge, which judges everything anew.")
    ] = False,
    override: Annotated[list[str] | None, typer.Option("-O", help="key.path=value; wins over all; repeatable.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan and an estimate; send nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Run benchmarks against an endpoint and write a run directory.

    Exit codes: 0 done; 2 wrong usage or configuration; 3 done, but samples are unscored; 75 stopped early, resumable;
    130 and 143 interrupted, resumable.
    """
    flags = dict(locals())
    resolved = configured(config, flags)
    from nel.cli.eval_show import show_preview, show_run  # noqa: PLC0415 - keeps --help fast

    if dry_run:
        show_preview(resolved, as_json=as_json)
    else:
        allowed = allowed_changes(url=allow_url_change, judge=allow_judge_change)
        show_run(resolved, resume=resume, as_json=as_json, allowed=allowed)


@app.command(name="score")
def score(
    run_dir: Annotated[Path, typer.Argument(help="The directory of the run.")],
    scorer: Annotated[
        str | None, typer.Option(help="NAME or NAME:key=value,... instead of the run's own scorer.")
    ] = None,
    override: Annotated[list[str] | None, typer.Option("-O", help="key.path=value; repeatable.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Score the stored answers of a run, without a single request."""
    from nel.cli.eval_show import show_rescored  # noqa: PLC0415 - keeps --help fast

    show_rescored(run_dir, scorer=scorer, overrides=override or [], as_json=as_json)


@app.command(name="resume")
def resume_run(
    run_dir: Annotated[Path, typer.Argument(help="The directory of the run.")],
    allow_url_change: Annotated[bool, typer.Option("--allow-url-change", help="Resume at another URL.")] = False,
    judge_url: JudgeUrls = None,
    judge_id: JudgeIds = None,
    judge_api_key_env: JudgeKeys = None,
    allow_judge_change: Annotated[
        bool, typer.Option("--allow-judge-change", help="Let another judge judge everything anew.")
    ] = False,
    override: Annotated[list[str] | None, typer.Option("-O", help="key.path=value; repeatable.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Continue a run with the configuration it was started with; a judge may be added to one that had none."""
    from nel.cli.eval_show import show_run  # noqa: PLC0415 - keeps --help fast
    from nel.evaluation import stored_config  # noqa: PLC0415

    judges = panel_of({"judge_url": judge_url, "judge_id": judge_id, "judge_api_key_env": judge_api_key_env})
    show_run(
        stored_config(run_dir, overrides=override or [], panel=judges),
        resume=True,
        as_json=as_json,
        allowed=allowed_changes(url=allow_url_change, judge=allow_judge_change),
    )

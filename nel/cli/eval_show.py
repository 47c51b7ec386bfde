"""The output of `nel eval`: the plan of a dry run, the result table of a run, and the command that resumes it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from nel.artifacts.write import BenchmarkResult
from nel.cli.gate_show import held
from nel.cli.progress import showing
from nel.cli.request_text import indented
from nel.cli.settings import Chosen
from nel.cli.streams import discard_stdout
from nel.cli.terminal import percent, plain, with_plain_spaces
from nel.comparison.floors import Floor, read_floors
from nel.config.openai_environment import taken_from_environment
from nel.config.redaction import redact_url
from nel.config.schema import RunConfig
from nel.core.strict_json import dumps
from nel.engine.progress import Progress
from nel.errors import EXIT_STOPPED_EARLY, EXIT_UNSCORED
from nel.evaluation import PlannedBenchmark, RunResult, evaluate, preview, rescore
from nel.judges.types import SETTING_FAULTS
from nel.reports.corrected import best_correction
from nel.reports.early_stop import stop_line
from nel.reports.extraction import band_text
from nel.reports.judge_section import judged_line
from nel.reports.repeatability import repeat_check_text

_COLUMNS = ("benchmark", "metric", "score", "95 % interval", "bounds", "n", "model failures", "unscored", "not asked")
_LOG_WIDTH = 200
_WORDS_MAX = 200
"""Characters of what an endpoint said."""
_FURTHER_MAX = 12
_PREVIEW_COLUMNS = (
    "benchmark",
    "dataset",
    "samples",
    "bad rows",
    "repeats",
    "requests",
    "prompt tokens",
    "completion tokens",
)
_NUMBERS = ("score", "95 % interval", "bounds", "n")


def show_run(
    config: RunConfig, *, resume: bool, as_json: bool, allowed: frozenset[str], fail_under: Sequence[str] = ()
) -> None:
    """Run, show progress on stderr and the result on stdout, and exit with the run's or the decision's exit code."""
    floors = read_floors(fail_under)
    progress = Progress()
    with showing(progress):
        result = evaluate(config, resume=resume, progress=progress, allowed_changes=allowed)
    show_result(result, progress, as_json=as_json, floors=floors)


def show_rescored(run_dir: Path, chosen: Chosen, *, as_json: bool) -> None:
    """Score stored answers, print the result on stdout, and exit with the run's exit code."""
    progress = Progress()
    with showing(progress):
        result = rescore(run_dir, given=chosen.given, overrides=chosen.overrides, progress=progress)
    show_result(result, progress, as_json=as_json)


def show_result(result: RunResult, progress: Progress, *, as_json: bool, floors: Sequence[Floor] = ()) -> None:
    """Print a run's table and what there is to know of it, and exit with its exit code or that of its floors.

    Where stdout takes no more, the rest is said on stderr; the exit code tells of it unless the reader has gone.
    """
    lost = 0
    try:
        _print_result(result, as_json=as_json)
    except OSError as error:
        discard_stdout()
        if not isinstance(error, BrokenPipeError):
            lost = EXIT_STOPPED_EARLY
            where = f"it is in {result.report}, and nel eval resume {result.run_dir} prints it"
            progress.notes.append(f"the result could not be printed ({error.strerror}); {where}")
    for line in [*progress.notes, *_words(progress, result), *remarks(result)]:
        typer.echo(f"nel: {plain(line)}", err=True)
    code = held(result.run_dir, result.exit_code, floors, err=as_json) if floors else result.exit_code
    raise typer.Exit(code or lost)


def _words(progress: Progress, result: RunResult) -> list[str]:
    """Return for each kind of fault what was said most often, unless the run ended by it and says so anyway."""
    most = [(kind, *words.most_common(1)[0], words.total()) for kind, words in sorted(progress.faults.items())]
    return [
        f"{kind}, {n:,} of {total:,} times: {_cut(said)}"
        for kind, said, n, total in most
        if said not in result.ending.reason
    ]


def _cut(text: str) -> str:
    return text if len(text) <= _WORDS_MAX else f"{text[: _WORDS_MAX - 1]}…"


def _print_result(result: RunResult, *, as_json: bool) -> None:
    if as_json:
        typer.echo(dumps(result_json(result)))
        return
    wide_console().print(_result_table(result))
    for line in (*_judged(result), *_read_otherwise(result), *_asked_twice(result)):
        typer.echo(plain(line))
    for report in (result.report, *result.reports):
        typer.echo(f"report: {report}")


def show_preview(config: RunConfig, *, as_json: bool) -> None:
    """Print the plan of a run without sending requests."""
    planned = preview(config)
    if as_json:
        rows = [planned_json(plan) for plan in planned]
        typer.echo(dumps({"dry_run": True, "config": config.model_dump(mode="json"), "benchmarks": rows}))
        return
    print_plan(config, planned)
    for plan in planned:
        if plan.first_requests:
            typer.echo(plain(f"first request of {plan.name}:"))
            typer.echo(indented(plan.first_requests[0]))
    typer.echo("dry run: nothing was sent")
    for note in dict.fromkeys(note for plan in planned for note in plan.notes):
        typer.echo(f"nel: {plain(note)}", err=True)


def planned_json(plan: PlannedBenchmark) -> dict[str, Any]:
    """Return the plan of one benchmark as ``--json`` prints it."""
    return {name: getattr(plan, name) for name in PlannedBenchmark.__dataclass_fields__}


def print_plan(config: RunConfig, planned: list[PlannedBenchmark]) -> None:
    """Print what one endpoint is going to be asked."""
    console = wide_console()
    endpoint = config.endpoint
    spoken = " and ".join(sorted({one.protocol for one in planned}))
    where = f"{redact_url(endpoint.url)} ({spoken}), model {endpoint.model}" if endpoint else "none"
    console.print(f"endpoint: {where}", markup=False)
    if endpoint is not None and (said := taken_from_environment(endpoint)):
        console.print(f"from the environment: {'; '.join(said)}", markup=False)
    for line in _settings(config, planned):
        console.print(line, markup=False)
    console.print(_preview_table(planned))


def result_json(result: RunResult) -> dict[str, Any]:
    """Return a run's result as ``--json`` prints it."""
    return {
        "run_dir": str(result.run_dir),
        "report": str(result.report),
        "reports": [str(path) for path in result.reports],
        "exit_code": result.exit_code,
        "ended": result.ending.reason,
        "benchmarks": {
            item.slot: {
                "headline": item.headline,
                "accounting": item.accounting,
                "complete": item.metrics["complete"],
                "stop_rule": item.metrics["stop_rule"],
                **({"shard": item.metrics["shard"]} if "shard" in item.metrics else {}),
                "metrics": {metric["name"]: metric["value"] for metric in item.metrics["metrics"]},
                "warnings": item.metrics["warnings"],
                "judging": item.metrics["judging"],
                **({"repeat_check": item.metrics["repeat_check"]} if "repeat_check" in item.metrics else {}),
            }
            for item in result.benchmarks
        },
    }


def _result_table(result: RunResult) -> Table:
    rows = [
        row for item in result.benchmarks for row in (_result_row(item), *_corrected_rows(item), *_further_rows(item))
    ]
    table = Table(box=SIMPLE_HEAD)
    for heading in (heading for heading in _COLUMNS if any(row[heading] for row in rows)):
        table.add_column(heading, justify="right" if heading in _NUMBERS else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(row[str(column.header)]) for column in table.columns))
    return table


def _result_row(item: BenchmarkResult) -> dict[str, str]:
    headline, accounting = item.headline, item.accounting
    return {
        "benchmark": plain(item.slot),
        "metric": plain(headline["metric"]),
        "score": "no score" if headline["value"] is None else _figure(headline["value"], share=_is_share(headline)),
        "95 % interval": _span(headline["ci_lower"], headline["ci_upper"], share=_is_share(headline)),
        "bounds": _bounds(headline["bounds"], accounting["n_unscored"]),
        "n": f"{accounting['n_total']:,}",
        "model failures": _parts(accounting["model_failures"].items()),
        "unscored": _parts((cause, part["n"]) for cause, part in accounting["unscored"].items()),
        "not asked": f"{accounting['n_not_asked']:,}" if accounting["n_not_asked"] else "",
    }


def _corrected_rows(item: BenchmarkResult) -> list[dict[str, str]]:
    """Return the headline as corrected by human labels, where there are any."""
    best = best_correction(item.metrics)
    if best is None:
        return []
    name, found = best
    share, labels = _is_share(item.headline), item.metrics["judging"]["corrected"]["n_labelled"]
    return [
        {
            **dict.fromkeys(_COLUMNS, ""),
            "metric": f"judge-corrected ({name})",
            "score": _figure(found["value"], share=share),
            "95 % interval": _span(found["ci_lower"], found["ci_upper"], share=share),
            "n": f"{labels:,} labels",
        }
    ]


def _further_rows(item: BenchmarkResult) -> list[dict[str, str]]:
    """Return a row for each metric other than the headline, up to a limit."""
    further = [metric for metric in item.metrics["metrics"] if metric["name"] != item.headline["metric"]]
    rows = [_further_row(item, metric) for metric in further[:_FURTHER_MAX]]
    if len(further) > _FURTHER_MAX:
        more = f"and {len(further) - _FURTHER_MAX} more in metrics.json"
        rows.append({**dict.fromkeys(_COLUMNS, ""), "metric": more})
    return rows


def _further_row(item: BenchmarkResult, metric: dict[str, Any]) -> dict[str, str]:
    reduced = metric["name"].startswith(f"{item.headline['metric']}/")
    share = _is_share(metric) or (reduced and _is_share(item.headline))
    return {
        **dict.fromkeys(_COLUMNS, ""),
        "metric": plain(metric["name"]),
        "score": "no score" if metric["value"] is None else _figure(metric["value"], share=share),
        "95 % interval": _span(metric["ci_lower"], metric["ci_upper"], share=share) if metric["ci_lower"] else "",
        "n": f"{metric['n']:,}",
    }


def _is_share(metric: dict[str, Any]) -> bool:
    """Return whether a metric is known to lie in [0, 1]."""
    return metric["bounds"] is not None


def _figure(value: float, *, share: bool) -> str:
    return percent(value) if share else f"{value:.4f}"


def _judged(result: RunResult) -> list[str]:
    """Return a line for each judged benchmark that names its judges."""
    found = [(item.slot, item.metrics["judging"]) for item in result.benchmarks]
    return [f"{slot}: {judged_line(judging)}" for slot, judging in found if judging]


def _read_otherwise(result: RunResult) -> list[str]:
    """Return a line for each audited benchmark: how far its score depends on the way of reading."""
    audited = [(item.slot, item.metrics) for item in result.benchmarks if "extraction" in item.metrics]
    return [with_plain_spaces(f"{slot}: {band_text(metrics)}") for slot, metrics in audited]


def _asked_twice(result: RunResult) -> list[str]:
    """Return a line for each benchmark with a repeat check: how often the endpoint differs from itself."""
    checked = [(item.slot, repeat_check_text(item.metrics)) for item in result.benchmarks]
    return [with_plain_spaces(f"{slot}: {text}") for slot, text in checked if text]


def remarks(result: RunResult) -> list[str]:
    """Return what a user has to know of a run beside its table, one line each."""
    lines = []
    for item in result.benchmarks:
        judged = (item.metrics["judging"] or {}).get("warnings", ())
        lines += [f"{item.slot}: {warning}" for warning in (*item.metrics["warnings"], *judged)]
        lines += [f"{item.slot}: {said}" for said in (stop_line(item.metrics),) if said]
        for cause, part in item.accounting["unscored"].items():
            kinds = ", ".join(f"{kind} {count:,}" for kind, count in part["kinds"].items())
            lines.append(f"{item.slot}: {part['n']:,} of {item.accounting['n_total']:,} unscored by {cause} ({kinds})")
        if "tie" in item.accounting["unscored"].get("judge", {}).get("kinds", {}):
            odd = "an even panel or judge.repeats can tie; make it odd and resume with --allow-judge-change"
            lines.append(f"{item.slot}: {odd}")
        truncated = item.accounting["model_failures"].get("truncated", 0)
        if truncated:
            lines.append(
                f"{item.slot}: {truncated:,} answers were cut off and count 0; raise --max-tokens{_on_completed(item)}"
            )
        empty = item.accounting["model_failures"].get("empty", 0)
        if empty:
            lines.append(f"{item.slot}: {empty:,} answers were empty and count 0{_on_completed(item)}")
        too_long = item.accounting["model_failures"].get("context_exceeded", 0)
        if too_long:
            lines.append(f"{item.slot}: {too_long:,} prompts did not fit into the model's context and count 0")
    if result.ending.reason in ("SIGINT", "SIGTERM"):
        lines.append(f"interrupted by {result.ending.reason}; every answer so far is kept")
    elif result.ending.reason != "done":
        lines.append(result.ending.reason)
    if result.exit_code not in (0, 2):
        what = "resume with" if result.exit_code != EXIT_UNSCORED else _retried(result)
        what = "fix that, then" if _is_judge_misused(result) else what
        judges = " --judge-url URL --judge-id NAME" if _lacks_judge(result) else ""
        lines.append(f"{what}: {result.resume_command}{judges}")
    elif result.exit_code:
        other = "" if result.ending.fix else " (-O key=value changes a setting)"
        lines.append(f"fix it, then: {result.resume_command}{other}")
    return lines


def _retried(result: RunResult) -> str:
    """Return what a resume does for a finished run whose exit code is not 0."""
    if any(item.accounting["n_unscored"] for item in result.benchmarks):
        return "retry the unscored samples with"
    return "fix the metrics, then compute them with"


def _lacks_judge(result: RunResult) -> bool:
    """Return whether answers are unscored because the run has no judge."""
    return any("no_judge" in kinds for kinds in _judge_faults(result))


def _is_judge_misused(result: RunResult) -> bool:
    """Return whether the benchmark's judge settings are unusable, so that a resume alone would fail in the same way."""
    return any((SETTING_FAULTS - {"no_judge"}) & kinds.keys() for kinds in _judge_faults(result))


def _judge_faults(result: RunResult) -> list[dict[str, int]]:
    return [item.accounting["unscored"].get("judge", {}).get("kinds", {}) for item in result.benchmarks]


def _on_completed(item: BenchmarkResult) -> str:
    completed = item.metrics["completed"]
    if completed["value"] is None:
        return ""
    figure = _figure(completed["value"], share=_is_share(item.headline))
    return f" (on the {completed['n']:,} completed answers: {figure})"


def _preview_table(planned: list[PlannedBenchmark]) -> Table:
    table = Table(box=SIMPLE_HEAD)
    for heading in _PREVIEW_COLUMNS:
        table.add_column(heading, justify="left" if heading in ("benchmark", "dataset") else "right")
    for plan in planned:
        revision = f" @ {plan.revision}" if plan.revision else ""
        limit = "not limited" if plan.completion_tokens_max is None else f"≤ {plan.completion_tokens_max:,}"
        cells: Iterable[str] = (
            plan.name,
            f"{plan.dataset}{revision}",
            f"{plan.samples:,}",
            f"{plan.bad_rows:,}",
            f"{plan.repeats:,}",
            f"{plan.requests:,}",
            f"≈ {plan.prompt_tokens:,}",
            limit if plan.requests else "0",
        )
        table.add_row(*(Text(plain(cell)) for cell in cells))
    return table


class _Console(Console):
    """A console that leaves the exit code to its caller where the reader of stdout has gone."""

    def on_broken_pipe(self) -> None:
        raise  # noqa: PLE0704 - called while BrokenPipeError is handled


def wide_console() -> Console:
    """Return a console for tables: as wide as the terminal, or 200 characters where there is none."""
    width = None if sys.stdout.isatty() else _LOG_WIDTH
    return _Console(width=width, highlight=False)


def _settings(config: RunConfig, planned: Sequence[PlannedBenchmark]) -> list[str]:
    lines = [f"concurrency: {config.engine.concurrency}", f"output: {Path(config.output.dir)}"]
    if config.stop.when:
        conditions = " or ".join(one.name for one in config.stop.conditions)
        lines.append(f"stops asking at {conditions}; what stands below is the most that it may ask")
    for benchmark, plan in zip(config.benchmarks, planned, strict=True):
        settings = dict(plan.generation)
        lines.append(f"{benchmark.name}: {settings or 'the endpoint decides every sampling setting'}")
        if plan.judges:
            asked = f"{plan.judge_requests:,} requests where each answer is one question to each judge"
            lines.append(f"{benchmark.name}: judges {', '.join(plan.judges)}; {asked}")
    return lines


def _span(lower: float | None, upper: float | None, *, share: bool) -> str:
    if lower is None or upper is None:
        return "none"
    return f"{_figure(lower, share=share)} – {_figure(upper, share=share)}"


def _bounds(bounds: dict[str, float] | None, n_unscored: int) -> str:
    if not n_unscored:
        return ""
    return "unknown" if bounds is None else f"{percent(bounds['lower'])} – {percent(bounds['upper'])}"


def _parts(parts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in parts)

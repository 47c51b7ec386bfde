"""Several endpoints over the same benchmarks as one evaluation: a run for each, a directory over
them, and one table.

The directory holds matrix.json, with the configuration and the runs, which a resume needs; each
run's own directory, named by its endpoint; and matrix_results.json, the table over them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from nel.artifacts.files import directory_name
from nel.config.load import build_config, call_config
from nel.config.matrix import split_config
from nel.config.schema import RunConfig
from nel.config.settings import Assignment
from nel.core.atomic_files import write_file
from nel.core.paths import as_argument
from nel.core.strict_json import loads, pretty
from nel.engine.asking.resume_checks import check_records
from nel.engine.local_paths import with_absolute_paths
from nel.engine.matrix import run_sessions
from nel.engine.planning.resolution import make_plans, with_members
from nel.engine.progress import Progress
from nel.engine.run_directory import new_directory
from nel.engine.session_spec import Runtime, SessionSpec
from nel.engine.store.projections.pending import Pending
from nel.engine.store.remote import is_remote
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import ConfigError, NelError, OutputError, ResumeRefused
from nel.reports.matrix import EndpointResult, matrix_json, matrix_table
from nel.reports.notebook import notebook_table, plain_table
from nel.reports.writers import check_writers
from nel.runs.background import run_blocking
from nel.runs.evaluation import has_begun, note_plans, words_for, written_results
from nel.runs.notebook import reporter
from nel.runs.objects import with_names
from nel.runs.preview import PlannedBenchmark, preview
from nel.runs.result import RunResult
from nel.types import JsonObject

MATRIX_NAME: Final = "matrix.json"
RESULTS_NAME: Final = "matrix_results.json"
FORMAT: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixResult:
    """The result of several endpoints' runs."""

    directory: Path
    runs: Mapping[str, RunResult]
    """By the names of the endpoints, in their order."""
    exit_code: int
    """The worst of the runs'."""
    document: JsonObject
    """The content of matrix_results.json."""

    def __repr__(self) -> str:
        """Return a line for each benchmark, with the score at each endpoint."""
        table = plain_table(matrix_table(self.document))
        return f"exit code {self.exit_code}, {self.directory}\n{table}"

    def _repr_html_(self) -> str:
        """Return the table as a notebook shows it."""
        return notebook_table(matrix_table(self.document))


def is_matrix(directory: Path) -> bool:
    """Return whether a directory holds the runs of several endpoints."""
    return (directory / MATRIX_NAME).is_file()


def run_directories(directory: Path) -> list[str]:
    """Return ``NAME=PATH`` of each endpoint's run, as a comparison takes it.

    Raises:
        OutputError: matrix.json cannot be read.
    """
    return [f"{run['name']}={_run_dir(directory, run['name'])}" for run in _read(directory)["runs"]]


def evaluate_matrix(
    config: RunConfig | Mapping[str, object],
    *,
    progress: Mapping[str, Progress] | None = None,
    on_progress: Callable[[Mapping[str, Progress]], None] | None = None,
    resume: bool = False,
    allowed_changes: frozenset[str] = frozenset(),
) -> MatrixResult:
    """Run or resume the benchmarks at all endpoints at once, and write all artifacts.

    Args:
        config: With `endpoints`; or the mapping that a YAML file holds.
        progress: Live counts by endpoint, for a progress display.
        on_progress: Called with them as `nel.evaluate` says.
        resume: Continue the runs in ``output.dir``: those of ``output.run_id``, or those that were
            started last.
        allowed_changes: Identity fields that may differ on a resume.

    Raises:
        NelError: A configuration, key, model, dataset or directory is unusable; nothing was paid
            for at any endpoint.
    """
    if isinstance(config, RunConfig):
        matrix_config = config
    else:
        matrix_config = call_config(with_names(config), where="evaluate_matrix()")
    if is_remote(matrix_config.output.dir):
        raise ConfigError(
            f"the runs of several endpoints cannot be uploaded to {matrix_config.output.dir};"
            " run each by itself"
        )
    matrix_config = with_members(matrix_config)
    parts = _parts(matrix_config)
    check_writers(matrix_config.output.reports)
    live = {name: (progress or {}).get(name) or Progress() for name, _ in parts}

    def work(runtime: Runtime) -> MatrixResult:
        return _evaluate(matrix_config, parts, live, resume, allowed_changes, runtime)

    with words_for(config):
        return run_blocking(work, reporter(live, on_progress))


def _evaluate(
    matrix_config: RunConfig,
    parts: Sequence[tuple[str, RunConfig]],
    live: Mapping[str, Progress],
    resume: bool,
    allowed_changes: frozenset[str],
    runtime: Runtime,
) -> MatrixResult:
    if resume:
        directory = latest_matrix(Path(matrix_config.output.dir), matrix_config.output.run_id)
        _check_kept(directory, [name for name, _ in parts])
        return _evaluate_in(directory, matrix_config, parts, live, allowed_changes, runtime)
    for _, config_of_run in parts:
        # What is wrong with a benchmark is raised before anything is written.
        make_plans(config_of_run)
    directory = new_matrix_directory(matrix_config)
    try:
        return _evaluate_in(directory, matrix_config, parts, live, allowed_changes, runtime)
    except NelError:
        if not any(_holds_answers(_run_dir(directory, name)) for name, _ in parts):
            shutil.rmtree(directory, ignore_errors=True)
        raise


def stored_matrix(
    directory: Path, *, settings: Sequence[Assignment] = (), overrides: Sequence[str] = ()
) -> RunConfig:
    """Return the configuration that started a directory's runs, set to continue there.

    Args:
        directory: With a matrix.json.
        settings: What flags set, laid over it.
        overrides: ``key.path=value``, laid over both.

    Raises:
        OutputError: matrix.json cannot be read.
        ConfigError: A flag or an override is wrong.
    """
    data = _read(directory)["config"]
    where = str(directory / MATRIX_NAME)
    output = {**(data.get("output") or {}), "dir": str(directory), "run_id": None}
    return build_config(
        {**data, "output": output}, given=settings, overrides=overrides, where=where
    )


def preview_matrix(
    config: RunConfig, *, pilot: str | None = None
) -> dict[str, list[PlannedBenchmark]]:
    """Return the plan of each endpoint's run: every dataset is read and nothing is sent.

    Args:
        config: Of all runs.
        pilot: As `nel.runs.evaluation.preview` takes it.

    Raises:
        NelError: As `evaluate_matrix` raises before it sends anything.
    """
    parts = _parts(config)
    return {name: preview(config_of_run, pilot=pilot) for name, config_of_run in parts}


def latest_matrix(output_dir: Path, run_id: str | None) -> Path:
    """Return the directory to resume: itself, the named one in it, or the one written last.

    Raises:
        OutputError: There is none.
    """
    directory = output_dir if run_id is None else output_dir / run_id
    if is_matrix(directory):
        return directory
    matrices = sorted(directory.glob(f"*/{MATRIX_NAME}"), key=lambda path: path.stat().st_mtime)
    if not matrices:
        raise OutputError(
            f"no runs of several endpoints to resume in {directory}; start them with nel eval run"
        )
    return matrices[-1].parent


def check_alone(run_dir: Path) -> None:
    """Raise ResumeRefused for a run on a shared budget: alone it cannot see what others spend."""
    over = run_dir.resolve().parent
    if not is_matrix(over):
        return
    budget = _read(over)["config"].get("budget") or {}
    if any(budget.get(cap) is not None for cap in ("max_cost", "max_tokens_total", "max_requests")):
        raise ResumeRefused(
            f"{run_dir} shares a budget with other runs; resume them all with nel eval resume"
            f" {as_argument(over)}"
        )


def _parts(config: RunConfig) -> list[tuple[str, RunConfig]]:
    """Return each endpoint's name and configuration.

    Raises:
        ConfigError: There are no endpoints, or two would have one directory.
    """
    if not config.endpoints:
        raise ConfigError(
            "there are no endpoints; list them under endpoints, each with url and model"
        )
    parts = split_config(config)
    places: dict[str, str] = {}
    for name, _ in parts:
        directory = directory_name(name).lower()  # as macOS and Windows compare names
        if directory in places:
            raise ConfigError(
                f'the endpoints "{places[directory]}" and "{name}" would both be written to {directory}/; '
                "give them names that differ in more than case"
            )
        places[directory] = name
    return parts


def _evaluate_in(
    directory: Path,
    matrix_config: RunConfig,
    parts: Sequence[tuple[str, RunConfig]],
    live: Mapping[str, Progress],
    allowed_changes: frozenset[str],
    runtime: Runtime,
) -> MatrixResult:
    specs = {}
    for name, config_of_run in parts:
        spec = _spec_of(directory, name, config_of_run, live[name])
        specs[name] = replace(
            spec, allowed_changes=allowed_changes, runtime=runtime, n_runs=len(parts)
        )
    # Written again, as a resume may have added an endpoint.
    write_file(directory / MATRIX_NAME, [_content(matrix_config)])
    ended = run_sessions(specs)
    results = {
        name: written_results(spec, status)
        for (name, spec), status in zip(specs.items(), ended, strict=True)
    }
    rows = [_endpoint_result(name, spec, results[name]) for name, spec in specs.items()]
    document = matrix_json(directory.name, rows)
    write_file(directory / RESULTS_NAME, [pretty(document)])
    return MatrixResult(
        directory=directory, runs=results, exit_code=document["exit_code"], document=document
    )


def new_matrix_directory(matrix_config: RunConfig) -> Path:
    """Create and return a new directory of several runs, which can be resumed from now on.

    Raises:
        OutputError: As `new_directory` says.
    """
    return new_directory(matrix_config, "matrix", first=(MATRIX_NAME, _content(matrix_config)))


def _content(matrix_config: RunConfig) -> bytes:
    """Return the text of the file that names the runs of a directory."""
    content: dict[str, Any] = {
        "version": FORMAT,
        "config": with_absolute_paths(matrix_config),
        "runs": [
            {"name": name, "directory": directory_name(name)}
            for name, _ in split_config(matrix_config)
        ],
    }
    return pretty(content)


def _endpoint_result(name: str, spec: SessionSpec, result: RunResult) -> EndpointResult:
    return EndpointResult(
        name=name,
        config=spec.config,
        directory=spec.run_dir.name,
        exit_code=result.exit_code,
        ended=result.ending.reason,
        benchmarks={item.slot: item.metrics for item in result.benchmarks},
        aggregates=result.aggregates,
    )


def _spec_of(directory: Path, name: str, config: RunConfig, progress: Progress) -> SessionSpec:
    run_dir = _run_dir(directory, name)
    begun = has_begun(run_dir)
    if begun:
        check_records(run_dir / FILE_NAME)
    else:
        run_dir.mkdir(mode=0o700, exist_ok=True)
    output = config.output.model_copy(update={"dir": str(directory), "run_id": None})
    config = config.model_copy(update={"output": output})
    plans = make_plans(config, resuming=begun)
    note_plans(plans, progress)
    return SessionSpec(run_dir=run_dir, config=config, plans=plans, progress=progress)


def _holds_answers(run_dir: Path) -> bool:
    with suppress(NelError), Snapshot(run_dir / FILE_NAME) as snapshot:
        return Pending(snapshot).last_answer() > 0
    return False  # there is no store, or none that can be read


def _run_dir(directory: Path, name: str) -> Path:
    return directory / directory_name(name)


def _check_kept(directory: Path, names: Sequence[str]) -> None:
    """Raise ResumeRefused where a run of the directory has no endpoint any more."""
    for run in _read(directory)["runs"]:
        if run["name"] not in names:
            raise ResumeRefused(
                f'{directory} holds a run of "{run["name"]}", which is not among the endpoints now;'
                " name it again"
            )


def _read(directory: Path) -> Any:
    path = directory / MATRIX_NAME
    try:
        document = loads(path.read_bytes())
        names = [run["name"] for run in document["runs"]]
        are_texts = all(isinstance(name, str) for name in names)
        if not isinstance(document["config"], dict) or not are_texts:
            raise TypeError("config or runs")
    except OSError as error:
        raise OutputError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise OutputError(
            f"{path} is damaged ({error}); resume each run in {directory} by itself"
        ) from error
    return document

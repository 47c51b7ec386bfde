"""Writes the artifacts of a run again from its run.db, with the reports it was configured with.

Metrics that only a scorer's code declares are computed with that code, where it can be loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from nel.artifacts.benchmark_result import BenchmarkResult
from nel.artifacts.write import write_artifacts
from nel.config.load import build_config
from nel.core.paths import share
from nel.core.strict_json import loads
from nel.engine.planning.resolution import make_plans
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import NelError, OutputError
from nel.metrics.requested import RequestedStatistics
from nel.reports.writers import HTML, write_report
from nel.types import JsonObject


def stored_reports(run_dir: Path) -> tuple[str, ...]:
    """Return the names of the further reports that a run was configured with.

    Raises:
        StoreError: There is no usable run.db.
    """
    return tuple(_output_settings(run_dir).get("reports") or ())


def _output_settings(run_dir: Path) -> JsonObject:
    """Return ``output`` of a run's configuration, which that of an imported run may lack."""
    return dict(_config(run_dir).get("output") or {})


def _config(run_dir: Path) -> JsonObject:
    with Snapshot(run_dir / FILE_NAME) as snapshot:
        return snapshot.meta("config") or {}


def rebuild(
    run_dir: Path,
    statistics: Mapping[str, RequestedStatistics] | None = None,
    *,
    declared_in: Path | None = None,
    notes: list[str] | None = None,
) -> tuple[list[BenchmarkResult], Path]:
    """Rewrite every artifact of a run from its run.db; return benchmarks and path of report.html.

    Args:
        run_dir: Of the run.
        statistics: The metrics and reducers of each benchmark; None: those in the run's
            configuration, and where a metrics.json has others, which only a scorer's code declares,
            those of the code.
        declared_in: The directory of that metrics.json; None: the run's own.
        notes: Takes a note where such metrics cannot be computed.

    Raises:
        StoreError: There is no usable run.db.
        StoppedEarly: The disk is full.
    """
    metric_names = {} if statistics is not None else _metric_names(declared_in or run_dir)
    benchmarks = write_artifacts(run_dir, statistics)
    # Loading a benchmark's code is slow and may fail, so it is tried only where names are lost.
    absent_names = []
    for result in benchmarks:
        names = _names(result.metrics)
        declared_names = metric_names.get(result.directory.name, ())
        absent_names += [name for name in declared_names if name not in names]
    if absent_names:
        try:
            benchmarks = write_artifacts(run_dir, _statistics_of_code(run_dir))
        except NelError as error:
            if notes is not None:
                notes.append(f"the metrics {', '.join(absent_names)} are not computed: {error}")
    page = write_report(HTML, run_dir)
    share_as_configured(run_dir)
    return benchmarks, page


def _metric_names(run_dir: Path) -> dict[str, list[str]]:
    names = {}
    for path in run_dir.glob("*/metrics.json"):
        # One that is damaged declares nothing; it is about to be written again.
        with suppress(OSError, ValueError, KeyError, TypeError):
            names[path.parent.name] = _names(loads(path.read_bytes()))
    return names


def _names(metrics: JsonObject) -> list[str]:
    return [str(metric["name"]) for metric in metrics["metrics"]]


def _statistics_of_code(run_dir: Path) -> dict[str, RequestedStatistics]:
    """Return the metrics and reducers that the benchmarks' code declares, with those of the run.

    Raises:
        NelError: The code, or a plugin that the run names, cannot be loaded.
    """
    plans = make_plans(build_config(_config(run_dir), where=str(run_dir)), resuming=True)
    return {plan.slot: plan.statistics for plan in plans}


def share_as_configured(run_dir: Path) -> None:
    """Let everyone read a run whose configuration says so.

    Raises:
        OutputError: A file is another user's.
    """
    if not _output_settings(run_dir).get("share_permissions"):
        return
    try:
        share(run_dir)
    except OSError as error:
        raise OutputError(
            f"cannot share {error.filename}: {error.strerror}; its owner has to run this"
        ) from error

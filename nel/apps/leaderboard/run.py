"""Runs a leaderboard: schedules the pairs, has an ordinary run judge them, writes the ranking.

    DIR/comparisons.json   the schedule, fixed before any request; the configuration of the judge
    DIR/pairs.jsonl        the pairs for the judge, rows of the benchmark ``pairwise``
    DIR/judging/           the judging: an ordinary run with its run.db, report and artifacts
    DIR/leaderboard.json   the numbers; leaderboard.html shows them

comparisons.json is the last file written before the judging, so a directory without it holds no
leaderboard. Depends on `nel.runs.evaluation`, which does the judging, and on the rest of
`nel.apps.leaderboard`.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from nel.apps.leaderboard.entries import BoardEntry, read_entries
from nel.apps.leaderboard.pages import write_html
from nel.apps.leaderboard.pair_results import SLOT, read_pair_results
from nel.apps.leaderboard.pair_rows import pair_rows
from nel.apps.leaderboard.pairing import PairSchedule, entries_json, make_pairs, pairing_json
from nel.apps.leaderboard.standings import FORMAT, StandingsSettings, standings_json
from nel.artifacts.files import benchmark_dir
from nel.artifacts.labels.calibration import read_labels
from nel.config.load import build_config
from nel.config.schema import RunConfig
from nel.config.settings import Assignment
from nel.core.atomic_files import write_file
from nel.core.strict_json import dumps_line, loads, pretty
from nel.engine.progress import Progress
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import ConfigError, NelError, OutputError, StoreError
from nel.runs.evaluation import evaluate
from nel.runs.result import RunResult
from nel.version import __version__

COMPARISONS: Final = "comparisons.json"
PAIRS: Final = "pairs.jsonl"
BOARD: Final = "leaderboard.json"
_JUDGING: Final = "judging"
_SHARED: Final = ("benchmark", "dataset.sha256", "prompt.sha256", "system_prompt")
_SETTLED: Final = ("benchmarks", "output")
"""Sections of the configuration that the leaderboard sets itself."""
_SUFFIX_BYTES: Final = 3
"""Six hexadecimal digits, which tell apart directories that begin in the same second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardRequest:
    """The runs to compare, and the configuration of the judge."""

    runs: Sequence[str]
    """``DIR`` or ``NAME=DIR``."""
    bench: str | None = None
    flags: Sequence[Assignment] = ()
    """What flags set in the configuration of the judging run, such as its judges."""
    overrides: Sequence[str] = ()
    """``key.path=value``, laid over that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardResult:
    """A finished leaderboard."""

    directory: Path
    board: dict[str, Any]
    """The content of leaderboard.json."""
    judging: RunResult

    @property
    def exit_code(self) -> int:
        """That of the judging: 3 where pairs have no verdict, 75 where it stopped early."""
        return self.judging.exit_code


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardPlan:
    """The schedule and the resolved configuration, as a dry run shows them."""

    entries: Sequence[BoardEntry]
    pairing: PairSchedule
    config: RunConfig


def plan_leaderboard(request: LeaderboardRequest, settings: StandingsSettings) -> LeaderboardPlan:
    """Return the schedule after reading every run, without sending a request.

    Raises:
        NelError: The runs cannot be compared, or a setting is wrong.
    """
    entries = sorted(read_entries(request.runs, request.bench), key=lambda entry: entry.label)
    pairing = make_pairs(entries, baseline=settings.baseline, seed=settings.seed)
    # Without a directory, which a dry run never makes; `_run` puts the one of the judging in.
    config = _config({}, Path(), request.flags, request.overrides)
    return LeaderboardPlan(entries=entries, pairing=pairing, config=config)


def start_leaderboard(
    request: LeaderboardRequest,
    settings: StandingsSettings,
    *,
    output_dir: Path,
    progress: Progress | None = None,
) -> LeaderboardResult:
    """Compare finished runs in a new directory.

    Raises:
        NelError: The runs cannot be compared, or the judge cannot be asked; nothing was sent.
    """
    plan = plan_leaderboard(request, settings)
    pairing = plan.pairing
    if not pairing.to_judge:
        raise ConfigError(
            f"no pair of answers is left for a judge ({len(pairing.forfeits)} decided by failed"
            f" answers, {pairing.left_out.total()} left out); check the runs' reports first"
        )
    directory = _new_directory(output_dir)
    try:
        rows = pair_rows(plan.entries, pairing.to_judge)
        write_file(directory / PAIRS, map(dumps_line, rows))
        write_file(directory / COMPARISONS, [pretty(_comparisons_json(plan, settings))])
        return _run(directory, plan.config, settings, progress)
    except BaseException:
        # Nothing was paid for before the judging began, so there is nothing to resume.
        if _judging_config(directory) is None:
            shutil.rmtree(directory, ignore_errors=True)
        raise


def resume_leaderboard(
    output_dir: Path,
    settings: StandingsSettings,
    *,
    flags: Sequence[Assignment] = (),
    overrides: Sequence[str] = (),
    progress: Progress | None = None,
) -> LeaderboardResult:
    """Resume the leaderboard in a directory, or the latest one below it, and recompute its numbers.

    Args:
        output_dir: The leaderboard, or the directory of several.
        settings: Of the statistics; seed and baseline are taken from the stored schedule.
        flags: Values of flags, which replace those of the stored configuration.
        overrides: ``key.path=value``, applied on top.
        progress: Live counts.

    Raises:
        ResumeRefused: The judge differs.
        NelError: There is nothing to resume.
    """
    directory = find_leaderboard(output_dir)
    schedule = _read_schedule(directory)
    settings = replace(
        settings, seed=schedule["scheduling"]["seed"], baseline=schedule["scheduling"]["baseline"]
    )
    base = _judging_config(directory) or schedule["config"]
    config = _config(base, directory, flags, overrides)
    return _run(directory, config, settings, progress)


def find_leaderboard(output_dir: Path) -> Path:
    """Return the leaderboard's directory: the named one, or the latest one below it.

    Raises:
        OutputError: There is none.
    """
    if (output_dir / COMPARISONS).is_file():
        return output_dir
    paths = sorted(
        output_dir.glob(f"*/{COMPARISONS}"),
        key=lambda path: (path.stat().st_mtime_ns, path.parent.name),
    )
    if not paths:
        raise OutputError(
            f"there is no leaderboard to resume in {output_dir}; start one without --resume"
        )
    return paths[-1].parent


def _run(
    directory: Path, config: RunConfig, settings: StandingsSettings, progress: Progress | None
) -> LeaderboardResult:
    has_begun = _judging_config(directory) is not None
    if not has_begun:
        # A kill before the first commit leaves a directory without a configuration to resume.
        shutil.rmtree(directory / _JUDGING, ignore_errors=True)
    judging = evaluate(_in_directory(config, directory), resume=has_begun, progress=progress)
    schedule = _read_schedule(directory)
    labels = read_labels(benchmark_dir(directory / _JUDGING, SLOT))
    results = read_pair_results(directory / _JUDGING / FILE_NAME, schedule, labels=labels)
    board = {
        "format": FORMAT,
        "sdk": f"nel {__version__}",
        "run_id": directory.resolve().name,
        "benchmark": schedule["benchmark"],
        "judge": results.plan.get("judge"),
        "scheduling": {
            **schedule["scheduling"],
            "n_questions_apart": schedule["n_questions_apart"],
        },
        **standings_json(results, schedule["entries"], settings),
    }
    write_file(directory / BOARD, [pretty(board)])
    write_html(directory, board)
    return LeaderboardResult(directory=directory, board=board, judging=judging)


def _config(
    base: Mapping[str, object],
    directory: Path,
    flags: Sequence[Assignment],
    overrides: Sequence[str],
) -> RunConfig:
    data = {**base, "benchmarks": [{"name": SLOT, "dataset": PAIRS}]}
    config = build_config(data, given=flags, overrides=overrides, where="nel judge leaderboard")
    judges = config.judge_of(config.benchmarks[0])
    if judges is None or not judges.panel:
        raise ConfigError("no judge is named; give --judge-url and --judge-id")
    if config.stop.when:
        raise ConfigError("a leaderboard judges every pair that it has drawn; leave stop.when out")
    return _in_directory(config, directory)


def _in_directory(config: RunConfig, directory: Path) -> RunConfig:
    entry = config.benchmarks[0].model_copy(update={"dataset": str(directory.absolute() / PAIRS)})
    output = config.output.model_copy(update={"dir": str(directory), "run_id": _JUDGING})
    return config.model_copy(update={"benchmarks": [entry], "output": output})


def _new_directory(output_dir: Path) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    directory = output_dir / f"{stamp}-leaderboard-{secrets.token_hex(_SUFFIX_BYTES)}"
    try:
        output_dir.mkdir(parents=True, exist_ok=True)
        directory.mkdir(mode=0o700)
    except OSError as error:
        raise OutputError(
            f"cannot write to {output_dir}: {error.strerror}; choose another --output-dir"
        ) from error
    return directory


def _judging_config(directory: Path) -> dict[str, Any] | None:
    """Return the configuration of the judging's latest session, None where it has not begun."""
    # Without a run.db, or with one that cannot be read, nothing has begun that could be resumed.
    with suppress(NelError), Snapshot(directory / _JUDGING / FILE_NAME) as snapshot:
        data = snapshot.meta("config")
        if isinstance(data, dict):
            return {name: value for name, value in data.items() if name not in _SETTLED}
    return None


def _comparisons_json(plan: LeaderboardPlan, settings: StandingsSettings) -> dict[str, Any]:
    identity = plan.entries[0].identity
    return {
        "format": FORMAT,
        "benchmark": {name: identity.get(name) for name in _SHARED},
        "entries": list(entries_json(plan.entries)),
        "scheduling": {"baseline": settings.baseline, "seed": settings.seed},
        **pairing_json(plan.pairing),
        "config": plan.config.model_dump(mode="json", exclude=set(_SETTLED)),
    }


def _read_schedule(directory: Path) -> dict[str, Any]:
    path = directory / COMPARISONS
    try:
        schedule = loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read: {error}; start a new leaderboard") from error
    if not isinstance(schedule, dict) or schedule.get("format") != FORMAT:
        raise StoreError(
            f"{path} is not of format {FORMAT}; use the version of nel that wrote it, or start a"
            " new leaderboard"
        )
    return schedule

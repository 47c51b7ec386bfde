"""Runs a leaderboard: schedules the pairs, has them judged by an ordinary run, and writes the
ranking.

    DIR/comparisons.json   the schedule, fixed before any request; the configuration of the judge
    DIR/pairs.jsonl        the pairs for the judge, rows of the benchmark ``pairwise``
    DIR/judging/           the judging: an ordinary run with its run.db, report and artifacts
    DIR/leaderboard.json   the numbers; leaderboard.md and leaderboard.html show them

comparisons.json is the last file written before the judging, so a directory without it holds no
leaderboard. Depends on `nel.runs.evaluation`, which does the judging, and on the rest of
`nel.apps.leaderboard`.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from nel.apps.leaderboard.entries import Entry, read_entries
from nel.apps.leaderboard.pages import write_pages
from nel.apps.leaderboard.pair_results import SLOT, read_pair_results
from nel.apps.leaderboard.pair_rows import pair_rows
from nel.apps.leaderboard.pairing import (
    ALL,
    BASELINE,
    Pairing,
    entries_json,
    make_pairs,
    pairing_json,
)
from nel.apps.leaderboard.standings import FORMAT, Settings, standings_json
from nel.artifacts.files import benchmark_dir
from nel.artifacts.labels.calibration import read_labels
from nel.config.identity import JUDGE_PREFIX, judge_fields
from nel.config.load import build_config
from nel.config.schema import RunConfig
from nel.config.settings import Given
from nel.core.atomic_files import write_file
from nel.core.strict_json import dumps_line, loads, pretty
from nel.engine.progress import Progress
from nel.engine.store.codec import decode_response
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import ConfigError, NelError, OutputError, ResumeRefused, StoreError
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


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardRequest:
    """The runs to compare, and the configuration of the judge."""

    runs: Sequence[str]
    """``DIR`` or ``NAME=DIR``."""
    bench: str | None = None
    pairs: str | None = None
    """``all``, ``baseline`` or a number; None: ``baseline`` where there is one, else ``all``."""
    flags: Sequence[Given] = ()
    """What flags set in the configuration of the judging run, such as its judges."""
    overrides: Sequence[str] = ()
    """``key.path=value``, laid over that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardResult:
    """The result of a leaderboard."""

    directory: Path
    board: dict[str, Any]
    """The content of leaderboard.json."""
    judging: RunResult

    @property
    def exit_code(self) -> int:
        """Return the exit code of the judging: 3 where pairs have no verdict, 75 where it stopped
        early.
        """
        return self.judging.exit_code


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardPlan:
    """The schedule and the resolved configuration, as a dry run shows them."""

    entries: Sequence[Entry]
    pairing: Pairing
    config: RunConfig


def plan_leaderboard(request: LeaderboardRequest, settings: Settings) -> LeaderboardPlan:
    """Return the schedule after reading every run, without sending a request.

    Raises:
        NelError: The runs cannot be compared, or a setting is wrong.
    """
    entries = sorted(read_entries(request.runs, request.bench), key=lambda entry: entry.label)
    _check_anchor(settings, [entry.label for entry in entries])
    if settings.baseline is not None and request.pairs not in (None, BASELINE):
        raise ConfigError(
            f"--baseline compares the others with {settings.baseline} alone and --pairs"
            f" {request.pairs} does not; leave out one of the two"
        )
    kind = request.pairs or (BASELINE if settings.baseline else ALL)
    pairing = make_pairs(entries, pairs=kind, baseline=settings.baseline, seed=settings.seed)
    return LeaderboardPlan(
        entries=entries,
        pairing=pairing,
        config=_config({}, Path(), request.flags, request.overrides),
    )


def start_leaderboard(
    request: LeaderboardRequest,
    settings: Settings,
    *,
    output_dir: Path,
    progress: Progress | None = None,
) -> LeaderboardResult:
    """Compare finished runs in a new directory.

    Raises:
        NelError: The runs cannot be compared, or the judge cannot be asked; nothing was sent.
    """
    planned = plan_leaderboard(request, settings)
    if not planned.pairing.to_judge:
        pairing = planned.pairing
        counts = f"{len(pairing.forfeits)} decided by failed answers, {pairing.left_out.total()} left out"
        raise ConfigError(
            f"no pair of answers is left for a judge ({counts}); check the runs' reports first"
        )
    directory = _new_directory(output_dir)
    try:
        write_file(directory / PAIRS, _pair_lines(planned))
        digest = _digest_in(directory)
        write_file(
            directory / COMPARISONS,
            [pretty(_comparisons_json(planned, request, settings, digest))],
        )
        return _run(directory, planned.config, settings, progress)
    except BaseException:  # a directory in which no judging began is of no use to a resume
        if _judging_config(directory) is None:
            shutil.rmtree(directory, ignore_errors=True)
        raise


def resume_leaderboard(
    output_dir: Path,
    settings: Settings,
    *,
    request: LeaderboardRequest | None = None,
    flags: Sequence[Given] = (),
    overrides: Sequence[str] = (),
    progress: Progress | None = None,
) -> LeaderboardResult:
    """Resume the leaderboard in a directory, or the latest one below it, and recompute its numbers.

    Args:
        output_dir: The leaderboard, or the directory of several.
        settings: Of the statistics; seed and baseline are taken from the stored schedule.
        request: The runs, if they are named again: they must be the original ones.
        flags: Values of flags, which replace those of the stored configuration.
        overrides: ``key.path=value``, applied on top.
        progress: Live counts.

    Raises:
        ResumeRefused: The runs or the judge differ.
        NelError: There is nothing to resume.
    """
    directory = find_leaderboard(output_dir)
    stored = _stored(directory)
    if _judging_config(directory) is None:
        _check_pairs(directory)
    if request is not None:
        _check_same(directory, stored, request, settings)
    settings = replace(
        settings, seed=stored["scheduling"]["seed"], baseline=stored["scheduling"]["baseline"]
    )
    _check_anchor(settings, [entry["label"] for entry in stored["entries"]])
    before = _judging_config(directory) or stored["config"]
    config = _config(before, directory, flags, overrides)
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
    directory: Path, config: RunConfig, settings: Settings, progress: Progress | None
) -> LeaderboardResult:
    """Judge the pairs without a verdict, and write the leaderboard."""
    begun = _judging_config(directory) is not None
    if not begun:
        shutil.rmtree(directory / _JUDGING, ignore_errors=True)
    judging = _run_judging(directory, _in_directory(config, directory), progress, begun=begun)
    stored = _stored(directory)
    labels = read_labels(benchmark_dir(directory / _JUDGING, SLOT))
    results = read_pair_results(directory / _JUDGING / FILE_NAME, stored, labels=labels)
    board = {
        "format": FORMAT,
        "sdk": f"nel {__version__}",
        "run_id": directory.resolve().name,
        "benchmark": stored["benchmark"],
        "judge": results.plan.get("judge"),
        "scheduling": {**stored["scheduling"], "n_questions_apart": stored["n_questions_apart"]},
        **standings_json(results, stored["entries"], settings),
    }
    write_file(directory / BOARD, [pretty(board)])
    write_pages(directory, board)
    return LeaderboardResult(directory=directory, board=board, judging=judging)


def _run_judging(
    directory: Path, config: RunConfig, progress: Progress | None, *, begun: bool
) -> RunResult:
    """Start or resume the judging run.

    Raises:
        ResumeRefused: The stored replies are of another judge.
    """
    try:
        return evaluate(config, resume=begun, progress=progress)
    except ResumeRefused as error:
        is_same, n_replies = _stored_judging(directory, config)
        if is_same or not n_replies:
            raise
        raise ResumeRefused(
            f"cannot resume {directory}: it holds {n_replies:,} replies of another judge, or of one"
            " with other settings; give no judge flags to keep the stored judge, or start a new"
            " leaderboard without --resume"
        ) from error


def _check_pairs(directory: Path) -> None:
    """Refuse a changed pairs.jsonl; once the judging has begun, its run checks the dataset
    itself.
    """
    if _digest_in(directory) != _stored(directory)["pairs_sha256"]:
        raise ResumeRefused(
            f"{directory / PAIRS} has changed since it was written; start a new leaderboard"
        )


def _stored_judging(directory: Path, config: RunConfig) -> tuple[bool, int]:
    """Return whether the judge is the one of the stored judging, and how many replies that one
    gave.
    """
    fields = judge_fields(config.judge_of(config.benchmarks[0]), config.model_roles)
    with Snapshot(directory / _JUDGING / FILE_NAME) as snapshot:
        ((key, _, _, plan),) = snapshot.benchmarks()
        stored = {
            name: value for name, value in plan["identity"].items() if name.startswith(JUDGE_PREFIX)
        }
        answers = (response for _, response in snapshot.calls(key))
        return loads(pretty(fields)) == stored, sum(
            decode_response(answer).error is None for answer in answers
        )


def _config_json(config: RunConfig) -> dict[str, Any]:
    """Return the configuration without the sections that a leaderboard sets itself."""
    return config.model_dump(mode="json", exclude=set(_SETTLED))


def _config(
    base: Mapping[str, object], directory: Path, flags: Sequence[Given], overrides: Sequence[str]
) -> RunConfig:
    data = {**base, "benchmarks": [{"name": SLOT, "dataset": PAIRS}]}
    config = build_config(data, given=flags, overrides=overrides, where="nel judge leaderboard")
    judges = config.judge_of(config.benchmarks[0])
    if judges is None or not judges.panel:
        raise ConfigError("no judge is named; give --judge-url and --judge-id")
    if config.stop.when:
        raise ConfigError("a leaderboard judges every pair that it has drawn; leave stop.when away")
    return _in_directory(config, directory)


def _in_directory(config: RunConfig, directory: Path) -> RunConfig:
    """Return the configuration with the dataset and the output in a directory."""
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
    """Return the configuration of the latest session of the judging, None where it has not
    begun.
    """
    with suppress(NelError), Snapshot(directory / _JUDGING / FILE_NAME) as snapshot:
        data = snapshot.meta("config")
        if isinstance(data, dict):
            return {name: value for name, value in data.items() if name not in _SETTLED}
    return None


def _pair_lines(planned: LeaderboardPlan) -> Iterator[bytes]:
    """Yield the lines of pairs.jsonl."""
    return map(dumps_line, pair_rows(planned.entries, planned.pairing.to_judge))


def _digest_in(directory: Path) -> str:
    """Return the digest of a leaderboard's pairs.jsonl."""
    with (directory / PAIRS).open("rb") as lines:
        return _digest_of(lines)


def _digest_of(lines: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line)
    return digest.hexdigest()


def _comparisons_json(
    planned: LeaderboardPlan, request: LeaderboardRequest, settings: Settings, pairs_sha256: str
) -> dict[str, Any]:
    identity = planned.entries[0].identity
    return {
        "format": FORMAT,
        "benchmark": {name: identity.get(name) for name in _SHARED},
        "entries": list(entries_json(planned.entries)),
        "scheduling": {
            "pairs": request.pairs or (BASELINE if settings.baseline else ALL),
            "baseline": settings.baseline,
            "seed": settings.seed,
        },
        **pairing_json(planned.pairing),
        "pairs_sha256": pairs_sha256,
        "config": _config_json(planned.config),
    }


def _stored(directory: Path) -> dict[str, Any]:
    path = directory / COMPARISONS
    try:
        stored = loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read: {error}; start a new leaderboard") from error
    if not isinstance(stored, dict) or stored.get("format") != FORMAT:
        raise StoreError(
            f"{path} is not of format {FORMAT}; use the version of nel that wrote it, or start a"
            " new leaderboard"
        )
    return stored


def _check_same(
    directory: Path, stored: Mapping[str, Any], request: LeaderboardRequest, settings: Settings
) -> None:
    planned = plan_leaderboard(request, settings)
    digest = _digest_of(_pair_lines(planned))
    now = loads(pretty(_comparisons_json(planned, request, settings, digest)))
    differ = [name for name in sorted(now) if name != "config" and now[name] != stored.get(name)]
    if differ:
        raise ResumeRefused(
            f"cannot resume {directory}: it was started with other runs or settings"
            f" ({', '.join(differ)} differ); give the same ones, or none, or start a new"
            " leaderboard without --resume"
        )


def _check_anchor(settings: Settings, labels: Sequence[str]) -> None:
    if settings.anchor is not None and settings.anchor not in labels:
        raise ConfigError(
            f'no run is called "{settings.anchor}", the anchor; there are: {", ".join(labels)}'
        )

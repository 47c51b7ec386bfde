"""Puts a run's shards together: one directory, with the artifacts of a run that was never divided.

Every shard must be there once, finished, and of one run: what is missing, there twice, unfinished
or different is refused by its number. The directory gets its name when everything in it is written,
so a kill leaves no run behind. Depends on the stores and on `nel.runs.evaluation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from nel.artifacts.benchmark_result import exit_code_of
from nel.artifacts.files import INPUTS, directory_name
from nel.artifacts.plugin_output import new_directory
from nel.config.identity import JUDGES_ADAPTED, SHARD, Identity
from nel.config.redaction import redact_url
from nel.config.schema.shard import Shard
from nel.core.failpoints import reach
from nel.core.paths import as_argument
from nel.core.texts import count_text, setting_text
from nel.engine.progress import Progress
from nel.engine.stopping.exit_status import ExitStatus
from nel.engine.store.elsewhere import shard_of
from nel.engine.store.lock import owner_of
from nel.engine.store.plans import StoredPlan
from nel.engine.store.projections.intact import check_whole
from nel.engine.store.projections.pending import Pending
from nel.engine.store.projections.replies import has_reply
from nel.engine.store.snapshot import FILE_NAME, RUNS, Snapshot
from nel.engine.store.union import Part, unite
from nel.errors import OutputError, StoreError, UsageError
from nel.reports.writers import write_reports
from nel.runs.rebuilding import rebuild
from nel.runs.result import RunResult

_MAY_DIFFER: Final = ("identity", "digest", "fingerprint", "dataset")
"""Keys of a plan that say where and how a shard started; the identity covers its dataset."""
_NAMED_MAX: Final = 20
_SHOWN_MAX: Final = 100
"""Characters of a value in an error."""
_URL: Final = "endpoint.url"
_ADAPTED: Final = "endpoint.adapted"
"""What the model's first answers showed; a shard without a question has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _StoredShard:
    """What one run.db says of itself."""

    path: Path
    shard: Shard
    config: dict[str, Any]
    benchmarks: dict[str, tuple[int, str, StoredPlan]]
    """By slot its number, its name and its plan."""
    sandboxes: list[Any]
    has_answers: bool
    judged: frozenset[str]
    """The slots of benchmarks of which a judge has replied."""
    n_missing: int
    """Answers that it does not have yet."""
    is_done: bool

    @property
    def label(self) -> str:
        """Return how errors name it."""
        return f"{self.shard.title} ({self.path})"

    @property
    def source(self) -> Part:
        """Return its store."""
        keys = {slot: key for slot, (key, _, _) in self.benchmarks.items()}
        return Part(path=self.path / FILE_NAME, label=self.label, keys=keys)

    @property
    def is_finished(self) -> bool:
        """Return whether nothing is left to ask."""
        return self.is_done and not self.n_missing


def merge_shards(
    directories: Sequence[Path], output: Path, *, progress: Progress | None = None
) -> RunResult:
    """Write one run of all its shards, which are only read; return it as `nel.evaluate` would.

    Args:
        directories: Of the shards, in any order; or of directories that hold them.
        output: A new directory.
        progress: Takes notes for the user.

    Raises:
        UsageError: A shard is missing, there twice, not finished, or of another run.
        OutputError: The directory exists, or cannot be written.
        StoreError: A store is damaged.
    """
    if output.exists() or output.is_symlink():
        raise OutputError(f"{output} exists already; name a new directory with -o")
    notes = (progress or Progress()).notes
    shards = sorted(map(_read, _expand(directories)), key=lambda stored: stored.shard.number)
    _check_complete(shards)
    # The plan of a shard that has asked knows what the endpoint's first answers showed.
    lead = next((stored for stored in shards if stored.has_answers), shards[0])
    _check_equal(lead, shards)
    notes += _left_behind(shards)
    with new_directory(output.absolute(), shared=False) as directory:
        _write_store(directory / FILE_NAME, lead, shards, output)
        reach("during_merge")
        benchmarks, page = rebuild(directory, declared_in=lead.path, notes=notes)
        reports, problems = write_reports(
            (lead.config.get("output") or {}).get("reports") or (), directory
        )
        notes += problems
        reach("before_merge_rename")
    tolerated = float((lead.config.get("engine") or {}).get("unscored_rate_max") or 0.0)
    return RunResult(
        run_dir=output,
        ending=ExitStatus(exit_code=0, reason="done"),
        # The directory has its final name now.
        benchmarks=[
            replace(benchmark, directory=output / benchmark.directory.name)
            for benchmark in benchmarks
        ],
        report=output / page.name,
        reports=tuple(output / path.relative_to(directory) for path in reports),
        exit_code=exit_code_of([item.metrics for item in benchmarks], tolerated),
    )


def _expand(directories: Sequence[Path]) -> list[Path]:
    """Return the directories of shards, of a directory that holds some all of them."""
    paths: list[Path] = []
    for directory in directories:
        below = sorted(path.parent for path in directory.glob(RUNS))
        paths += [directory] if (directory / FILE_NAME).exists() or not below else below
    return paths


def _read(path: Path) -> _StoredShard:
    owner = owner_of(path)
    if owner is not None:
        raise UsageError(
            f"{path} is still written by process {owner.pid} on {owner.host}; merge when that has"
            " ended"
        )
    with Snapshot(path / FILE_NAME, untouched=True) as snapshot:
        check_whole(snapshot)
        return _stored_shard(path, snapshot)


def _stored_shard(path: Path, snapshot: Snapshot) -> _StoredShard:
    config, sessions = snapshot.meta("config"), snapshot.sessions()
    benchmarks = {slot: (key, name, plan) for key, slot, name, plan in snapshot.benchmarks()}
    plans = [plan for _, _, plan in benchmarks.values()]
    if not (config and sessions and plans and all(plans)):
        raise UsageError(
            f"{path} holds no run that has begun; start it again with nel eval run --shard I/N"
        )
    shard = shard_of(plans[0]["identity"])
    if shard is None:
        raise UsageError(
            f"{path} is a whole run and no shard; merge runs of nel eval run --shard I/N"
        )
    pending = Pending(snapshot)
    return _StoredShard(
        path=path,
        shard=shard,
        config=config,
        benchmarks=benchmarks,
        sandboxes=snapshot.meta("sandboxes") or [],
        has_answers=pending.last_answer() > 0,
        judged=frozenset(
            slot for slot, (number, _, _) in benchmarks.items() if has_reply(snapshot, number)
        ),
        n_missing=sum(
            pending.count_pending(key, plan["repeats"]) for key, _, plan in benchmarks.values()
        ),
        is_done=sessions[-1]["ended"] == "done",
    )


def _check_complete(shards: Sequence[_StoredShard]) -> None:
    """Raise UsageError unless every shard of one division is there once, and finished."""
    if not shards:
        raise UsageError("there is no shard to merge; give the directories of all shards of a run")
    of = shards[0].shard.of
    for shard in shards:
        if shard.shard.of != of:
            raise UsageError(
                f"{shards[0].label} and {shard.label} are of two divisions; merge the shards of"
                " one run"
            )
    for shard, next_shard in pairwise(shards):
        if shard.shard == next_shard.shard:
            raise UsageError(
                f"{shard.shard.title} is there twice: {shard.path} and {next_shard.path}; leave one of them"
                " out"
            )
    absent_numbers = sorted(set(range(1, of + 1)) - {shard.shard.number for shard in shards})
    if absent_numbers:
        n = len(absent_numbers)
        text = ", ".join(map(str, absent_numbers[:_NAMED_MAX]))
        if n > _NAMED_MAX:
            text += " …"
        verb, others = ("is", "") if n == 1 else ("are", " and so on")
        raise UsageError(
            f"of {of:,} shards {n:,} {verb} missing: {text}; run --shard"
            f" {absent_numbers[0]}/{of}{others}, or name their directories"
        )
    _check_finished(shards)


def _check_finished(shards: Sequence[_StoredShard]) -> None:
    """Raise UsageError unless every shard is finished."""
    unfinished = [shard for shard in shards if not shard.is_finished]
    if not unfinished:
        return
    steps = "; ".join(
        f"{shard.shard.title} ({count_text(shard.n_missing, 'answer')} missing): nel eval resume"
        f" {as_argument(shard.path)}"
        for shard in unfinished[:_NAMED_MAX]
    )
    n_others = len(unfinished) - _NAMED_MAX
    others = f"; and {n_others:,} more" if n_others > 0 else ""
    raise UsageError(
        f"{len(unfinished):,} of {len(shards):,} shards are not finished: {steps}{others}"
    )


def _check_equal(lead: _StoredShard, shards: Sequence[_StoredShard]) -> None:
    """Raise UsageError if shards differ in benchmark, dataset, model or setting."""
    for shard in shards:
        if list(shard.benchmarks) != list(lead.benchmarks):
            names = [", ".join(side.benchmarks) for side in (lead, shard)]
            raise UsageError(
                f"{lead.label} has {names[0]} and {shard.label} has {names[1]}; they are not of"
                " one run"
            )
        for slot, (_, _, plan) in shard.benchmarks.items():
            first_asker = _asked_first(lead, shards, slot)
            differ = _differences(first_asker.benchmarks[slot][2], plan)
            # What first answers and first verdicts settle is open in a shard that has none.
            if not shard.has_answers:
                differ.pop(_ADAPTED, None)
            if slot not in shard.judged:
                differ.pop(JUDGES_ADAPTED, None)
            if differ:
                listed = "; ".join(
                    f"{name} ({ours} and {theirs})" for name, (ours, theirs) in differ.items()
                )
                step = "run one of them again with the settings of the other"
                if differ.keys() == {_URL}:
                    step = (
                        f"if one model is served at both, nel eval resume {as_argument(shard.path)}"
                        " --allow-url-change "
                    )
                    step += f"--model-url {differ[_URL][0]}"
                both = f"{first_asker.label} and {shard.label}"
                raise UsageError(f"{both} are not of one run: {slot} differs in {listed}; {step}")
        if _prices_of(lead) != _prices_of(shard):
            raise UsageError(
                f"{lead.label} and {shard.label} have different budget.prices, so that their cost"
                " has no sum; run nel eval resume with -O budget.prices=… on one of them"
            )


def _prices_of(shard: _StoredShard) -> object:
    return (shard.config.get("budget") or {}).get("prices")


def _asked_first(lead: _StoredShard, shards: Sequence[_StoredShard], slot: str) -> _StoredShard:
    """Return the first shard whose judges replied on a benchmark: their settings are known."""
    return next((shard for shard in shards if slot in shard.judged), lead)


def _differences(left: StoredPlan, right: StoredPlan) -> dict[str, tuple[str, str]]:
    """Return the settings in which two plans differ, with both values in short."""
    # The number of the shard is in the identity, and the only field that has to differ.
    identities = [{**plan["identity"], SHARD: None} for plan in (left, right)]
    plans = [
        {key: value for key, value in plan.items() if key not in _MAY_DIFFER}
        for plan in (left, right)
    ]
    return {
        name: (_short(name, ours.get(name)), _short(name, theirs.get(name)))
        for ours, theirs in (identities, plans)
        for name in sorted({*ours, *theirs})
        if ours.get(name) != theirs.get(name)
    }


def _short(name: str, value: object) -> str:
    if name == _URL and value is not None:
        value = redact_url(str(value))
    return setting_text(value, _SHOWN_MAX)


def _left_behind(shards: Sequence[_StoredShard]) -> list[str]:
    """Return a note for each shard's labels and readings: they are not part of the merged run."""
    return [
        f"{shard.label}: its {name} of {slot} is not part of the merged run"
        for shard in shards
        for slot in shard.benchmarks
        for name in INPUTS
        if (shard.path / directory_name(slot) / name).exists()
    ]


def _write_store(
    path: Path, lead: _StoredShard, shards: Sequence[_StoredShard], output: Path
) -> None:
    sandboxes: list[Any] = []
    for shard in shards:
        sandboxes += [sandbox for sandbox in shard.sandboxes if sandbox not in sandboxes]
    config = {
        **lead.config,
        "shard": None,
        "output": {**lead.config["output"], "dir": str(output.absolute().parent), "run_id": None},
    }
    meta = {"run_id": output.name, "config": config, "not_run": None, "sandboxes": sandboxes}
    benchmarks = {}
    for slot in lead.benchmarks:
        _, name, plan = _asked_first(lead, shards, slot).benchmarks[slot]
        benchmarks[slot] = (name, _whole(plan))
    unite(path, [shard.source for shard in shards], benchmarks=benchmarks, meta=meta)
    with Snapshot(path) as snapshot:
        for key, slot, _, plan in snapshot.benchmarks():
            n_missing = Pending(snapshot).count_pending(key, plan["repeats"])
            if n_missing:
                raise StoreError(
                    f"{slot}: {count_text(n_missing, 'answer')} in no shard; the shards were not"
                    " divided by one rule"
                )


def _whole(plan: StoredPlan) -> StoredPlan:
    """Return the plan of the run that was divided: with its identity, and the digest of that."""
    fields = {name: value for name, value in plan["identity"].items() if name != SHARD}
    return {**plan, "identity": fields, "digest": Identity(fields=fields).digest}

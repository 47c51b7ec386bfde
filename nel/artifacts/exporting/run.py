"""Opens a run for export: its checked artifacts, and what to know of samples that have no score.

Reads alone: nothing is written into a run's directory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from nel.core.paths import as_argument
from nel.core.strict_json import dumps_unless_text
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import OutputError, StoppedEarly
from nel.reports.agreement import check_lines, state_of
from nel.reports.numbers import count
from nel.reports.run_files import BenchmarkFiles
from nel.reports.selection import shard_line
from nel.reports.whole_run import read_run
from nel.types import JsonObject

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
r"""Half of a pair, which JSON may escape, as ``"\ud83d"``, and UTF-8 cannot hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunToExport:
    """The artifacts of a run that is not being written."""

    run_dir: Path
    run_id: str
    benchmarks: tuple[BenchmarkFiles, ...]
    """At least one, sorted by directory name."""

    @property
    def notes(self) -> list[str]:
        """Return what every format must say of this run, one sentence each.

        That is its failures, and its unscored and missing samples.
        """
        return [note for files in self.benchmarks for note in notes_of(files)]


def open_run(run_dir: Path) -> RunToExport:
    """Return a run's artifacts, after a pass over all results.

    Raises:
        OutputError: The run is still written, has no artifacts, or one is damaged or does not agree
            with another.
    """
    benchmarks = tuple(read_run(run_dir))
    for files in benchmarks:
        if not files.bundle:
            raise OutputError(
                f"{files.directory} has no eval-*.json; make it again with nel report"
                f" {as_argument(run_dir)}"
            )
        check_lines(files)
    run_id = benchmarks[0].metrics.get("run_id")
    return RunToExport(
        run_dir=run_dir, run_id=str(run_id or run_dir.resolve().name), benchmarks=benchmarks
    )


def asked_results(files: BenchmarkFiles) -> Iterator[dict[str, Any]]:
    """Yield the lines of results.jsonl without those of questions never asked for."""
    return (result for result in files.results() if state_of(result) != "not_asked")


def asked_messages(result: JsonObject) -> list[dict[str, Any]]:
    """Return the messages of a result's prompt; a text is one of the user."""
    prompt = result["prompt"]
    return prompt if isinstance(prompt, list) else [{"role": "user", "content": prompt or ""}]


def expected_texts(result: JsonObject) -> list[str]:
    """Return the expected answers of a result as texts, none where it has no expected answer."""
    target = result["expected_answer"]
    if target is None:
        return []
    values = target if isinstance(target, list) else [target]
    return [dumps_unless_text(value) for value in values]


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Turn an error of writing a file into one that names it.

    Raises:
        StoppedEarly: The disk is full, say.
    """
    try:
        yield
    except OSError as error:
        why = error.strerror or error
        raise StoppedEarly(
            f"cannot write {path}: {why}; free some space, then export again"
        ) from error


def run_start(run_dir: Path) -> datetime:
    """Return when a run began, in UTC.

    Raises:
        StoreError: The run.db is missing or damaged.
    """
    with Snapshot(run_dir / FILE_NAME, untouched=True) as snapshot:
        sessions = snapshot.sessions()
    return datetime.fromtimestamp(sessions[0]["started"] if sessions else 0.0, UTC)


def notes_of(files: BenchmarkFiles) -> Iterator[str]:
    """Yield what is to be known of one benchmark wherever its score is shown."""
    accounting, title = files.metrics["accounting"], files.title
    total = count(accounting["n_total"])
    unscored, failed = accounting["n_unscored"], accounting["n_model_failure"]
    if unscored:
        causes = ", ".join(
            f"{cause} {count(counts['n'])}"
            for cause, counts in sorted(accounting["unscored"].items())
        )
        yield (
            f"{title}: {count(unscored)} of {total} results have no score ({causes}), which is"
            " not 0."
        )
    if failed:
        yield (
            f"{title}: {count(failed)} of {total} results are failures of the model, which count"
            " as 0."
        )
    not_asked, shard = accounting["n_not_asked"], files.metrics.get("shard")
    if not_asked:
        why = "other shards of the run ask for them" if shard else "a stop rule ended it"
        yield f"{title}: {count(not_asked)} of {total} results were never asked for: {why}."
    if shard:
        yield f"{title}: {shard_line(files.metrics)}."
    elif not files.metrics["complete"]:
        yield f"{title}: the run did not end; its numbers are of a part of the samples."
    if (files.metrics.get("headline") or {}).get("value") is None:
        yield f"{title}: there is no score, which is not a score of 0."


def model_name(files: BenchmarkFiles) -> str:
    """Return the configured model; ``unknown`` where recorded answers were scored."""
    return str(files.bundle["config"].get("model") or "unknown")


def scorer_name(files: BenchmarkFiles) -> str:
    """Return the name under which scores stand in the log."""
    return str((files.bundle["config"].get("scorer") or {}).get("name") or "reward")


def storable(value: Any) -> Any:  # JSON of any shape
    """Return a value whose texts UTF-8 can hold: half a character becomes U+FFFD."""
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {storable(key): storable(element) for key, element in value.items()}
    return [storable(element) for element in value] if isinstance(value, list) else value

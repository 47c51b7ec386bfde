"""Readings of a model: ordinary runs of unread answers, in ``reader/`` of a benchmark's directory.

    reader/1.jsonl   the answers that were to be read, each under a digest of itself
    reader/1/        the run that had a model read them, with its run.db

Only the readings of the reader that was used last count. Depends on the runs' stores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import ParamSpec, TypeVar

from nel import plugins
from nel.artifacts.answer_readers import AnswerReader, UnreadAnswer, model_reading
from nel.artifacts.files import READER
from nel.artifacts.results import Result, read_result
from nel.engine.store.projections.results import results
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import NelError, PluginError
from nel.reading.types import Reading
from nel.scoring.readings import GoldAnswer
from nel.types import Sample, Scored, Unscored

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ReaderId:
    """Which reader made a reading."""

    reader: str
    """A plugin of the group ``nel.readers``."""
    model: str


@dataclass(frozen=True, slots=True)
class ModelReadings:
    """The replies of one reader about answers of one benchmark."""

    made_by: ReaderId
    reader: AnswerReader
    replies: Mapping[str, str | None] = field(repr=False)
    """By digest of the answer; None where the reader's reply was unusable, as it would be again."""

    def of(self, unread: UnreadAnswer) -> Reading | None:
        """Return the reading of an answer; None where the reader was not asked or not reached."""
        if unread.digest not in self.replies:
            return None
        reply = self.replies[unread.digest]
        if reply is None:
            return model_reading(unread, None)
        answer = guard(self.made_by.reader, self.reader.read, unread, reply)
        return model_reading(unread, answer)


def find_reader(name: str) -> AnswerReader:
    """Return the plugin of the group ``nel.readers`` that has a name.

    Raises:
        PluginError: There is none, or it is no `AnswerReader`.
    """
    reader = plugins.load("readers", name)
    if not isinstance(reader, AnswerReader):
        raise PluginError(f'the reader "{name}" is a {type(reader).__name__}, not an AnswerReader')
    return reader


def guard(name: str, function: Callable[P, T], /, *arguments: P.args, **options: P.kwargs) -> T:
    """Call a function of a reader.

    Raises:
        PluginError: It raised.
    """
    try:
        return function(*arguments, **options)
    except Exception as error:
        raise PluginError(f'the reader "{name}" failed: {type(error).__name__}: {error}') from error


def unread_answer(result: Result, gold: GoldAnswer) -> UnreadAnswer:
    """Return what a reader is asked about a stored answer."""
    assert result.sample is not None  # noqa: S101 - only such answers have readings
    assert result.response is not None  # noqa: S101
    return UnreadAnswer(
        question=_question(result.sample),
        response=result.response.text,
        kind=gold.kind,
        labels=tuple(gold.labels),
        choices=tuple(gold.choices or ()),
    )


def _question(sample: Sample) -> str:
    if isinstance(sample.input, str):
        return sample.input
    return "\n\n".join(
        message.content for message in sample.input if isinstance(message.content, str)
    )


def load_model_readings(directory: Path, made_by: ReaderId | None = None) -> ModelReadings | None:
    """Return the readings of a reader, by default the one used last; None where there are none.

    Args:
        directory: The benchmark's directory in the run.
        made_by: The reader.

    Raises:
        PluginError: The reader is no longer installed.
    """
    by_model: dict[ReaderId, dict[str, str | None]] = {}
    latest_reader = ReaderId("", "")
    for run_dir in reader_runs(directory):
        # A run that was just begun, or whose store is damaged, has no readings; the others count.
        with suppress(NelError), Snapshot(run_dir / FILE_NAME) as snapshot:
            model = str(((snapshot.meta("config") or {}).get("endpoint") or {}).get("model"))
            for result in _results(snapshot):
                if result.sample is None or isinstance(result.outcome, Unscored):
                    continue
                latest_reader = ReaderId(str(result.sample.metadata.get("reader")), model)
                reply = None
                if isinstance(result.outcome, Scored) and result.response is not None:
                    reply = result.response.text
                by_model.setdefault(latest_reader, {})[result.sample_id] = reply
    reader = made_by or latest_reader
    if reader not in by_model:
        return None
    return ModelReadings(reader, find_reader(reader.reader), by_model[reader])


def reader_runs(directory: Path) -> list[Path]:
    """Return the runs of readers of a benchmark, oldest first."""
    directories = [
        path for path in (directory / READER).glob("*") if path.name.isdigit() and path.is_dir()
    ]
    return sorted(directories, key=lambda path: int(path.name))


def _results(snapshot: Snapshot) -> Iterator[Result]:
    for key, _, _, plan in snapshot.benchmarks():
        if plan:  # the benchmark was begun
            yield from map(read_result, results(snapshot, key, plan["repeats"]))

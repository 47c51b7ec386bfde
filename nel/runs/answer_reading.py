"""Has a model read answers in which a scorer found none, for `nel scorer audit --reader`.

The questions to the model are an ordinary run in ``reader/`` of the benchmark's directory, with its
retries, deadlines, budget and store. An answer that the same reader has read is not sent again,
also after a run that was killed. Depends on `nel.runs.evaluation`, which runs it, and on
`nel.artifacts`, which reads the replies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nel.artifacts.answer_readers import AnswerReader, UnreadAnswer
from nel.artifacts.extraction import unread_answers
from nel.artifacts.files import READER, benchmark_dir
from nel.artifacts.model_readings import (
    ReaderId,
    find_reader,
    guard,
    load_model_readings,
    reader_runs,
)
from nel.config.load import build_config
from nel.config.schema import RunConfig
from nel.core.atomic_files import write_file
from nel.core.strict_json import dumps_line
from nel.engine.progress import Progress
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.runs.evaluation import evaluate
from nel.runs.result import RunResult

SLOT: Final = "unread_answers"
_TOKENS_MAX: Final = 2048
"""Of a reply: one line and the thought before it; ``-O generation.max_tokens`` replaces it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderRequest:
    """The model that reads, and how it is asked."""

    url: str
    model: str
    api_key_env: str | None = None
    form: str = "extract"
    """A plugin of the group ``nel.readers``."""
    overrides: Sequence[str] = ()
    """``key.path=value`` of the configuration of the run that asks."""


def read_with_model(
    run_dir: Path,
    request: ReaderRequest,
    slots: Mapping[str, str],
    progress: Progress | None = None,
) -> list[RunResult]:
    """Ask a model about every answer in which the run's scorer found none; return one result for
    each run that asked.

    Args:
        run_dir: The run.
        request: The model.
        slots: The names of the audited benchmarks, by slot.
        progress: Live counts.

    Raises:
        NelError: The reader or its configuration is unusable; nothing was sent.
    """
    reader = find_reader(request.form)
    # A wrong setting is an error even where nothing is left to read.
    _config(request, Path("unused"), Path(), 1)
    results: list[RunResult] = []
    for slot, name in slots.items():
        directory = benchmark_dir(run_dir, slot)
        readings = load_model_readings(directory, ReaderId(request.form, request.model))
        known_digests = frozenset() if readings is None else frozenset(readings.replies)
        answers = unread_answers(run_dir, slot, name)
        rows = list(_rows(answers, request, reader, known_digests))
        if rows:
            results.append(_ask(directory, request, rows, progress))
    return results


def audited_slots(run_dir: Path, refused: Mapping[str, str]) -> dict[str, str]:
    """Return the name of each benchmark of a run that can be audited, by its slot."""
    with Snapshot(run_dir / FILE_NAME) as snapshot:
        return {
            slot: name
            for _, slot, name, plan in snapshot.benchmarks()
            if plan and slot not in refused
        }


def _rows(
    answers: Iterator[UnreadAnswer],
    request: ReaderRequest,
    reader: AnswerReader,
    known_digests: frozenset[str],
) -> Iterator[bytes]:
    digests = set(known_digests)
    for reading in answers:
        if reading.digest not in digests:
            digests.add(reading.digest)
            row = {
                "id": reading.digest,
                "prompt": guard(request.form, reader.ask, reading),
                "kind": reading.kind,
                "reader": request.form,
            }
            yield dumps_line(row)


def _ask(
    directory: Path, request: ReaderRequest, rows: Sequence[bytes], progress: Progress | None
) -> RunResult:
    home = directory / READER
    home.mkdir(mode=0o700, exist_ok=True)
    number = max((int(path.name) for path in reader_runs(directory)), default=0) + 1
    data = home / f"{number}.jsonl"
    write_file(data, rows)
    try:
        return evaluate(_config(request, data, home, number), progress=progress)
    except BaseException:
        # A run that has begun needs its dataset for a resume; of none that has not, it would stay.
        if not (home / str(number)).exists():
            data.unlink(missing_ok=True)
        raise


def _config(request: ReaderRequest, data: Path, home: Path, number: int) -> RunConfig:
    settings = {
        "endpoint": {
            "url": request.url,
            "model": request.model,
            "api_key_env": request.api_key_env,
        },
        "generation": {"temperature": 0.0, "max_tokens": _TOKENS_MAX},
        "benchmarks": [{"name": SLOT, "dataset": str(data.absolute())}],
        "output": {"dir": str(home), "run_id": str(number)},
    }
    return build_config(settings, overrides=request.overrides, where="nel scorer audit --reader")

"""Takes labels into a run's directory: people's own, or those of another run of the same judge.

`nel.artifacts.labels.calibration` evaluates them. Results are read more than once rather than held:
only the labels are in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nel.apps.calibrate.judged_answers import (
    JudgedBenchmark,
    compares_pairs,
    judge_score,
    judged_benchmark,
    printable,
    verdicts,
)
from nel.apps.calibrate.lines import LabelLineReader, file_names, lines_by_annotator
from nel.artifacts.files import (
    BORROWED_NAME,
    CALIBRATION_NAME,
    LABELS_NAME,
    benchmark_dir,
    directory_name,
)
from nel.artifacts.labels.annotators import counted_label
from nel.artifacts.labels.calibration import (
    Key,
    StoredLabel,
    is_verdict,
    judge_setup,
    response_digest,
    response_text,
    setup_difference,
    templates_of,
    write_labels,
)
from nel.artifacts.labels.file import LabelLine, same_text, shown_id
from nel.artifacts.labels.pairs import (
    DESCRIBED,
    baseline_of,
    is_pair,
    read_winner,
    response_score,
    shown_pair,
)
from nel.artifacts.results import Result, read_result
from nel.core.atomic_files import write_file
from nel.core.paths import as_argument
from nel.core.strict_json import loads, pretty
from nel.engine.store.projections.results import results
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import UsageError
from nel.judges.stats.human_labels import LabelScale, grade_of, scale_of
from nel.judges.stats.tally import key_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedLabels:
    """What came of a labelled file."""

    directory: Path
    n: int
    n_empty: int
    """Lines without a label."""
    skipped: Sequence[str]
    """Why a label was left out, with file and line."""


def import_labels(
    run_dir: Path, path: Path | Sequence[Path], *, slot: str | None = None
) -> ImportedLabels:
    """Take the labels of files into the run's directory, in the place of those that are there.

    Args:
        run_dir: The directory of the run.
        path: A .csv or .jsonl file with the columns ``sample_id``, ``repeat`` and ``label``, or
            several; a ``response``, or both answers of a pair, are compared. A column ``annotator``
            says who gave a label; where there is none, each of several files is one annotator's.
        slot: The benchmark, where several were judged.

    Raises:
        UsageError: A label is not on the judge's scale, of an unknown answer, or given twice by one
            annotator and differently; or none is given that can be used. With file and line.
        StoreError: There is no usable run.db.
    """
    paths = [path] if isinstance(path, Path) else list(path)
    with Snapshot(run_dir / FILE_NAME) as snapshot:
        benchmark = judged_benchmark(snapshot, run_dir, slot)
        files = lines_by_annotator(paths)
        reader = _reader(snapshot, benchmark)
        labels, skipped = _labels_of_files(snapshot, benchmark, files, reader)
        all_lines = [line for lines in files.values() for line in lines.values()]
        n_labels = sum(reader.score(line) is not None for line in all_lines)
        if not n_labels:
            raise UsageError(
                f"no line of {file_names(paths)} has a label; fill in the column label"
                f" ({reader.described})"
            )
        if not labels:
            raise UsageError(f"no label of {file_names(paths)} can be used; {skipped[0]}")
        directory = benchmark_dir(run_dir, benchmark.slot)
        write_labels(directory, labels)
    return ImportedLabels(
        directory=directory,
        n=len(labels),
        n_empty=len(all_lines) - n_labels,
        skipped=skipped,
    )


def _reader(snapshot: Snapshot, benchmark: JudgedBenchmark) -> LabelLineReader:
    if compares_pairs(snapshot, benchmark):
        return LabelLineReader(read_winner, DESCRIBED, is_pair=True)
    scale = _scale(snapshot, benchmark)
    return LabelLineReader(scale.read, scale.description(), is_pair=False)


def borrow_calibration(run_dir: Path, source_run: Path, *, slot: str | None = None) -> Path:
    """Let another run's labels of the same judge correct a run; return its benchmark's directory.

    Args:
        run_dir: The directory of the run.
        source_run: The directory of a calibrated run of the same benchmark.
        slot: The benchmark, where several were judged.

    Raises:
        UsageError: The other run has no calibration of it, was judged in another way, or has no
            sensitivity and specificity; or this one has labels of its own.
        StoreError: There is no usable run.db.
    """
    with Snapshot(run_dir / FILE_NAME) as snapshot:
        benchmark = judged_benchmark(snapshot, run_dir, slot)
        templates = sorted(
            {name for result in verdicts(snapshot, benchmark) for name in templates_of(result)}
        )
    directory = benchmark_dir(run_dir, benchmark.slot)
    if (directory / LABELS_NAME).exists():
        raise UsageError(
            f"{directory} has labels of its own, which say more; remove {LABELS_NAME} to borrow"
            " others"
        )
    path = source_run / directory_name(benchmark.slot) / CALIBRATION_NAME
    try:
        calibration = loads(path.read_bytes())
        rates = {name: calibration[name] for name in ("sensitivity", "specificity")}
        gaps = [
            f"{name}: {rate['reason']}" for name, rate in rates.items() if rate["value"] is None
        ]
        borrowed = {
            name: calibration[name] for name in ("run_id", "judge", "templates", "n_labelled")
        }
    except FileNotFoundError as error:
        raise UsageError(
            f"there is no {path}; calibrate that run first, with labels of its own"
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{path} is damaged; make it again with nel report {as_argument(source_run)}"
        ) from error
    difference = setup_difference(calibration, judge_setup(benchmark.plan), templates)
    if difference:
        raise UsageError(f"the calibration of {source_run} is not this run's: {difference}")
    if gaps:
        raise UsageError(
            f"the calibration of {source_run} cannot correct another run: {'; '.join(gaps)}"
        )
    write_file(directory / BORROWED_NAME, [pretty({**borrowed, **rates})])
    return directory


def _scale(snapshot: Snapshot, benchmark: JudgedBenchmark) -> LabelScale:
    grades: dict[str, float] = {}
    scores: set[float] = set()
    templates: set[str] = set()
    for result in verdicts(snapshot, benchmark):
        details, score = result.outcome.details, judge_score(result)
        scores.add(key_of(score))
        templates.update(templates_of(result))
        grade = grade_of(details, score)
        if grade is not None:
            grades[grade] = score
    return scale_of(grades, scores, templates)


def _labels_of_files(
    snapshot: Snapshot,
    benchmark: JudgedBenchmark,
    files: Mapping[str, dict[Key, LabelLine]],
    reader: LabelLineReader,
) -> tuple[dict[Key, StoredLabel], list[str]]:
    """Return the label that counts of each answer, and what was left out."""
    labels: dict[Key, StoredLabel] = {}
    skipped: list[str] = []
    for annotator, lines in files.items():
        scores_of_lines = {key: reader.score(line) for key, line in lines.items()}
        scores = {key: score for key, score in scores_of_lines.items() if score is not None}
        file_labels, reasons = _join(snapshot, benchmark, lines, scores)
        skipped += reasons
        if len(files) == 1:  # of one annotator, whose name is not stored
            return file_labels, skipped
        for key, label in file_labels.items():
            # The label that counts is decided again with each annotator that is added.
            earlier_scores = labels[key].by if key in labels else {}
            by = {**earlier_scores, annotator: label.score}
            labels[key] = StoredLabel(counted_label(by, *key), label.response_sha256, by)
    return labels, skipped


def _join(
    snapshot: Snapshot,
    benchmark: JudgedBenchmark,
    lines: Mapping[Key, LabelLine],
    scores: Mapping[Key, float],
) -> tuple[dict[Key, StoredLabel], list[str]]:
    """Return the labels of answers that this run judged, in dataset order, and what was left out.

    Raises:
        UsageError: A label is of an answer that the run does not have.
    """
    if not scores:
        return {}, []
    remainder = dict(scores)
    labels: dict[Key, StoredLabel] = {}
    skipped: list[str] = []
    for row in results(snapshot, benchmark.key, benchmark.repeats):
        sample_id, repeat = row.sample.sample_id, row.repeat
        key = sample_id, repeat
        if key not in remainder:  # a file may have the id in the form in which it is shown
            key = shown_id(sample_id), repeat
        if key not in remainder:
            continue
        line, score = lines[key], remainder.pop(key)
        result = read_result(row)
        if not is_verdict(result):
            skipped.append(
                f"{line.where}: no judge scored this answer"
                f" ({getattr(result.outcome, 'kind', 'scored without one')}); its label is left out"
            )
        elif not _labels_answer(line, result):
            skipped.append(
                f"{line.where}: the response is not the one of this run; its label is left out"
            )
        else:
            if is_pair(result):
                score = response_score(result, score)
            labels[sample_id, repeat] = StoredLabel(score, response_digest(result))
    if remainder:
        sample_id, repeat = key = next(iter(remainder))
        others = f" and {len(remainder) - 1} more" if len(remainder) > 1 else ""
        raise UsageError(
            f"{lines[key].where}: {benchmark.slot} has no sample {sample_id!r} repeat"
            f" {repeat}{others}; labels belong to the run they were drawn from"
        )
    return labels, skipped


def _labels_answer(line: LabelLine, result: Result) -> bool:
    """Return whether a line is about this run's answer, or about both answers of its pair."""
    baseline = baseline_of(result)
    if baseline is None:
        return line.response is None or same_text(line.response, printable(response_text(result)))
    ours = shown_pair(result, printable(response_text(result)), printable(baseline))
    return line.pair is not None and all(map(same_text, line.pair, ours))

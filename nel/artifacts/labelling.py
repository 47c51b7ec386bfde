"""Draws the answers of a run that people should label, and takes their labels into its directory.

`nel.artifacts.calibration` evaluates the labels. Results are read more than once rather than held:
only the labels and the sampled answers are in memory.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from nel.artifacts.annotators import counted_label
from nel.artifacts.calibration import (
    Key,
    StoredLabel,
    is_verdict,
    judge_setup,
    read_labels,
    response_digest,
    response_text,
    setup_difference,
    templates_of,
    write_labels,
)
from nel.artifacts.files import benchmark_dir, directory_name
from nel.artifacts.inputs import BORROWED_NAME, CALIBRATION_NAME, LABELS_NAME
from nel.artifacts.label_file import Entry, Line, PairEntry, same_text, shown_id, write_label_file
from nel.artifacts.label_lines import LabelReader, lines_by_annotator, listed
from nel.artifacts.label_pairs import (
    DESCRIBED,
    baseline_of,
    check_pair,
    is_pair,
    read_winner,
    response_score,
    shown_pair,
)
from nel.artifacts.results import Result, read_result, reward_of
from nel.core.atomic_files import write_file
from nel.core.strict_json import dumps, loads, pretty
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import UsageError, did_you_mean
from nel.judges.stats.human_labels import Scale, allocate, grade_of, priority, scale_of, spread
from nel.judges.stats.tally import key_of, stratum_keys
from nel.types import Message, Sample, Scored

_OTHER_RUN_SHARE: Final = 0.5
"""From so many labels of other answers on, they are another run's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedBenchmark:
    """A benchmark of a run that has answers with a judge's verdict."""

    key: int
    slot: str
    plan: Mapping[str, Any]

    @property
    def repeats(self) -> int:
        """Return how many answers were asked for each sample."""
        return int(self.plan["repeats"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """What was put into a file to be labelled."""

    path: Path
    n: int
    n_judged: int
    by_score: Mapping[float, int]
    """Chosen answers by the lowest score of their stratum."""
    is_pair: bool = False
    """Whether each is a pair of answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What came of a labelled file."""

    directory: Path
    n: int
    n_empty: int
    """Lines without a label."""
    skipped: Sequence[str]
    """Why a label was left out, with file and line."""
    n_replaced: int
    """Labels that were there before."""
    annotators: Sequence[str] = ()
    """Who gave the labels, where the files tell several people apart."""


def judged_benchmark(snapshot: Snapshot, run_dir: Path, slot: str | None) -> JudgedBenchmark:
    """Return the benchmark of a run that is meant: the one named, or the only one with verdicts.

    Raises:
        UsageError: There is no such benchmark, none was judged, or several were and none is named.
    """
    candidates = [
        JudgedBenchmark(key=key, slot=name, plan=plan)
        for key, name, _, plan in snapshot.benchmarks()
        if plan
    ]
    if slot is not None:
        named = [candidate for candidate in candidates if candidate.slot == slot]
        if not named:
            slots = [candidate.slot for candidate in candidates]
            raise UsageError(
                f'{run_dir} has no benchmark "{slot}"{did_you_mean(slot, slots) or _listed(slots)}'
            )
        candidates = named
    judged = [candidate for candidate in candidates if any(_verdicts(snapshot, candidate))]
    if not judged:
        what = f'no answer of "{slot}"' if slot is not None else "no answer"
        raise UsageError(
            f"{what} in {run_dir} has a judge's verdict; calibrate a run whose benchmark asks a"
            " judge"
        )
    if len(judged) > 1:
        raise UsageError(
            f"{run_dir} has several judged benchmarks{_listed([candidate.slot for candidate in judged])}; give"
            " --bench"
        )
    return judged[0]


def draw_labels(
    run_dir: Path, path: Path | None, *, slot: str | None = None, n: int = 200
) -> Drawn:
    """Write the answers that a person should label.

    They are drawn by the judge's score, from rare ones more than their share, and within it by
    category in proportion. Which samples come follows from a hash of each sample alone, so that
    another model's run of the same benchmark asks about mostly the same ones. Of a sample with
    several repeats one is drawn.

    Args:
        run_dir: The directory of the run.
        path: A .csv or .jsonl file that is not there yet; None: ``<benchmark>-to-label.csv`` in the
            run's directory.
        slot: The benchmark, where several were judged.
        n: At most so many.

    Raises:
        UsageError: The run has no such benchmark or no verdicts, or the file is there already.
        StoreError: There is no usable run.db.
    """
    with Snapshot(run_dir / FILE_NAME) as snapshot:
        benchmark = judged_benchmark(snapshot, run_dir, slot)
        _compares_pairs(snapshot, benchmark)
        keys, sizes, n_judged = _strata(snapshot, benchmark)
        wanted: dict[tuple[float, str], int] = {}
        for stratum, count in allocate(
            {key: sum(amount.values()) for key, amount in sizes.items()}, n
        ).items():
            wanted |= {
                (stratum, name): amount for name, amount in spread(sizes[stratum], count).items()
            }
        chosen = _chosen(snapshot, benchmark, keys, wanted)
        if path is None:
            path = run_dir / f"{directory_name(benchmark.slot)}-to-label.csv"
        write_label_file(path, [entry for _, _, entry in chosen])
        by_score = Counter(stratum for _, stratum, _ in chosen)
    return Drawn(
        path=path,
        n=len(chosen),
        n_judged=n_judged,
        by_score=dict(sorted(by_score.items())),
        is_pair=any(isinstance(entry, PairEntry) for _, _, entry in chosen),
    )


def import_labels(
    run_dir: Path, path: Path | Sequence[Path], *, slot: str | None = None
) -> Imported:
    """Take the labels of one or more files into the run's directory, in the place of those that are
    there.

    Args:
        run_dir: The directory of the run.
        path: A .csv or .jsonl file with the columns ``sample_id``, ``repeat`` and ``label``, or
            several; a ``response``, or both answers of a pair, are compared. A column ``annotator``
            says who gave a label; where there is none, each of several files is one annotator's.
        slot: The benchmark, where several were judged.

    Raises:
        UsageError: A label is not on the judge's scale, of an unknown or an unjudged answer, or
            given twice by one annotator and differently; none is given; or the labels are of
            another run's answers. With file and line.
        StoreError: There is no usable run.db.
    """
    paths = [path] if isinstance(path, Path) else list(path)
    with Snapshot(run_dir / FILE_NAME) as snapshot:
        benchmark = judged_benchmark(snapshot, run_dir, slot)
        files = lines_by_annotator(paths)
        read = _reader(snapshot, benchmark)
        labels, skipped = _labels_of_files(snapshot, benchmark, files, read)
        n_lines = sum(len(lines) for lines, _ in files.values())
        n_given = sum(
            read.score(line) is not None for lines, _ in files.values() for line in lines.values()
        )
        if not n_given:
            raise UsageError(
                f"no line of {listed(paths)} has a label; fill in the column label"
                f" ({read.described})"
            )
        if not labels:
            raise UsageError(f"no label of {listed(paths)} can be used; {skipped[0]}")
        directory = benchmark_dir(run_dir, benchmark.slot)
        before = _count_labels(directory)
        write_labels(directory, labels)
    return Imported(
        directory=directory,
        n=len(labels),
        n_empty=n_lines - n_given,
        skipped=skipped,
        n_replaced=before,
        annotators=list(files) if len(files) > 1 else (),
    )


def _reader(snapshot: Snapshot, benchmark: JudgedBenchmark) -> LabelReader:
    if _compares_pairs(snapshot, benchmark):
        return LabelReader(read_winner, DESCRIBED, is_pair=True)
    scale = _scale(snapshot, benchmark)
    return LabelReader(scale.read, scale.described(), is_pair=False)


def _compares_pairs(snapshot: Snapshot, benchmark: JudgedBenchmark) -> bool:
    """Return whether the judge compared pairs; raises UsageError where people cannot be shown both
    answers of one.
    """
    pairs_seen = False
    for result in _verdicts(snapshot, benchmark):
        check_pair(result)
        pairs_seen |= is_pair(result)
    return pairs_seen


def borrow_calibration(run_dir: Path, other: Path, *, slot: str | None = None) -> Path:
    """Let a run without labels be corrected by what another run's labels say of the same judge;
    return its directory.

    Args:
        run_dir: The directory of the run.
        other: The directory of a calibrated run of the same benchmark.
        slot: The benchmark, where several were judged.

    Raises:
        UsageError: The other run has no calibration of it, was judged in another way, or has no
            sensitivity and specificity; or this one has labels of its own.
        StoreError: There is no usable run.db.
    """
    with Snapshot(run_dir / FILE_NAME) as snapshot:
        benchmark = judged_benchmark(snapshot, run_dir, slot)
        templates = sorted(
            {name for result in _verdicts(snapshot, benchmark) for name in templates_of(result)}
        )
    directory = benchmark_dir(run_dir, benchmark.slot)
    if (directory / LABELS_NAME).exists():
        raise UsageError(
            f"{directory} has labels of its own, which say more; remove {LABELS_NAME} to borrow"
            " others"
        )
    path = other / directory_name(benchmark.slot) / CALIBRATION_NAME
    try:
        calibration = loads(path.read_bytes())
        rates = {name: calibration[name] for name in ("sensitivity", "specificity")}
        missing = [
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
        raise UsageError(f"{path} is damaged; make it again with nel report {other}") from error
    if differs := setup_difference(calibration, judge_setup(benchmark.plan), templates):
        raise UsageError(f"the calibration of {other} is not this run's: {differs}")
    if missing:
        raise UsageError(
            f"the calibration of {other} cannot correct another run: {'; '.join(missing)}"
        )
    write_file(directory / BORROWED_NAME, [pretty({**borrowed, **rates})])
    return directory


def _verdicts(snapshot: Snapshot, benchmark: JudgedBenchmark) -> Iterator[Result]:
    for stored in snapshot.results(benchmark.key, benchmark.repeats):
        if stored.outcome is not None:
            result = read_result(stored)
            if is_verdict(result):
                yield result


def _score(result: Result) -> float:
    return reward_of(result.outcome) or 0.0


def _candidates(
    snapshot: Snapshot, benchmark: JudgedBenchmark
) -> Iterator[tuple[bytes, Result, int]]:
    """Yield of each sample its place in the order of drawing, one of its judged answers, and how
    many it has.
    """
    for _, same in groupby(_verdicts(snapshot, benchmark), key=lambda result: result.idx):
        results = list(same)
        rank = priority(results[0].sample_id, _content(results[0].sample))
        yield rank, results[rank[-1] % len(results)], len(results)


def _strata(
    snapshot: Snapshot, benchmark: JudgedBenchmark
) -> tuple[dict[float, float], dict[float, Counter[str]], int]:
    """Return the stratum of each score, how many answers of each category can be drawn, and how
    many were judged.
    """
    by_score: dict[float, Counter[str]] = {}
    n_judged = 0
    for _, result, count in _candidates(snapshot, benchmark):
        by_score.setdefault(key_of(_score(result)), Counter())[_category(result)] += 1
        n_judged += count
    keys = stratum_keys({key: amount.total() for key, amount in by_score.items()})
    sizes: dict[float, Counter[str]] = {}
    for key, amount in by_score.items():
        sizes.setdefault(keys[key], Counter()).update(amount)
    return keys, sizes, n_judged


def _chosen(
    snapshot: Snapshot,
    benchmark: JudgedBenchmark,
    keys: Mapping[float, float],
    wanted: Mapping[tuple[float, str], int],
) -> list[tuple[bytes, float, Entry | PairEntry]]:
    """Return the first so many of each stratum and category in the order of drawing, which hides
    both.
    """
    heaps: dict[tuple[float, str], list[tuple[bytes, int, Entry | PairEntry]]] = {}
    for rank, result, _ in _candidates(snapshot, benchmark):
        stratum = keys[key_of(_score(result))], _category(result)
        if not wanted.get(stratum):
            continue
        heap = heaps.setdefault(stratum, [])
        inverse = bytes(255 - byte for byte in rank)
        if len(heap) < wanted[stratum]:
            heapq.heappush(heap, (inverse, result.idx, _entry(result)))
        elif inverse > heap[0][0]:
            heapq.heapreplace(heap, (inverse, result.idx, _entry(result)))
    drawn = [
        (bytes(255 - byte for byte in rank), key, candidate)
        for (key, _), heap in heaps.items()
        for rank, _, candidate in heap
    ]
    return sorted(drawn, key=lambda item: (item[0], item[2].sample_id))


def _scale(snapshot: Snapshot, benchmark: JudgedBenchmark) -> Scale:
    grades: dict[str, float] = {}
    scores: set[float] = set()
    templates: set[str] = set()
    for result in _verdicts(snapshot, benchmark):
        details, score = result.outcome.details, _score(result)
        scores.add(key_of(score))
        templates.update(templates_of(result))
        grade = grade_of(details, score)
        if grade is not None:
            grades[grade] = score
    return scale_of(grades, scores, templates)


def _labels_of_files(
    snapshot: Snapshot,
    benchmark: JudgedBenchmark,
    files: Mapping[str, tuple[dict[Key, Line], Path]],
    read: LabelReader,
) -> tuple[dict[Key, StoredLabel], list[str]]:
    """Return the label that counts of each answer, and what was left out."""
    labels: dict[Key, StoredLabel] = {}
    skipped: list[str] = []
    for annotator, (lines, source) in files.items():
        scores = {
            key: score for key, line in lines.items() if (score := read.score(line)) is not None
        }
        joined, left_out = (
            _joined(snapshot, benchmark, lines, scores, source) if scores else ({}, [])
        )
        skipped += left_out
        for key, label in joined.items():
            by = {**(labels[key].by if key in labels else {}), annotator: label.score}
            score = counted_label(by, *key) if len(files) > 1 else label.score
            labels[key] = StoredLabel(score, label.response_sha256, by if len(files) > 1 else {})
    return labels, skipped


def _joined(
    snapshot: Snapshot,
    benchmark: JudgedBenchmark,
    lines: Mapping[Key, Line],
    scores: Mapping[Key, float],
    path: Path,
) -> tuple[dict[Key, StoredLabel], list[str]]:
    """Return the labels of answers that this run judged, in dataset order, and what was left out.

    Raises:
        UsageError: A label is of an answer that the run does not have, or most are of other
            answers.
    """
    left = dict(scores)
    joined: dict[Key, StoredLabel] = {}
    skipped: list[str] = []
    others = 0
    for stored in snapshot.results(benchmark.key, benchmark.repeats):
        own = stored.sample.sample_id, stored.repeat
        key = own if own in left else (shown_id(own[0]), own[1])
        if key not in left:
            continue
        line, score = lines[key], left.pop(key)
        result = read_result(stored)
        if not is_verdict(result):
            skipped.append(
                f"{line.where}: no judge scored this answer ({_state(result)}); its label is"
                " left out"
            )
        elif not _is_of(result, line):
            others += 1
            skipped.append(
                f"{line.where}: the response is not the one of this run; its label is left out"
            )
        else:
            own_score = response_score(result, score) if is_pair(result) else score
            joined[own] = StoredLabel(own_score, response_digest(result))
    _refuse_unknown(left, lines, benchmark)
    if others and others >= _OTHER_RUN_SHARE * len(scores):
        raise UsageError(
            f"{others:,} of {len(scores):,} labels in {path} are of other responses; were they"
            " another run's?"
        )
    return joined, skipped


def _refuse_unknown(
    left: Mapping[Key, float], lines: Mapping[Key, Line], benchmark: JudgedBenchmark
) -> None:
    if left:
        key = next(iter(left))
        more = f" and {len(left) - 1} more" if len(left) > 1 else ""
        raise UsageError(
            f"{lines[key].where}: {benchmark.slot} has no sample {key[0]!r} repeat {key[1]}{more}; "
            "labels belong to the run they were drawn from"
        )


def _is_of(result: Result, line: Line) -> bool:
    """Return whether a line is of this run's answer, or of both answers of its pair."""
    baseline = baseline_of(result)
    if baseline is None:
        return line.response is None or same_text(line.response, _printable(response_text(result)))
    ours = shown_pair(result, _printable(response_text(result)), _printable(baseline))
    return line.pair is not None and all(map(same_text, line.pair, ours))


def _count_labels(directory: Path) -> int:
    """Return how many labels are there; damaged ones are about to be replaced and count as none."""
    try:
        return len(read_labels(directory))
    except UsageError:
        return 0


def _state(result: Result) -> str:
    outcome = result.outcome
    return "scored without one" if isinstance(outcome, Scored) else f"{outcome.kind}"


def _entry(result: Result) -> Entry | PairEntry:
    sample = result.sample
    question = "" if sample is None else _question(sample)
    reference = "" if sample is None or sample.target is None else _shown_value(sample.target)
    response, baseline = _printable(response_text(result)), baseline_of(result)
    if baseline is None:
        return Entry(
            sample_id=result.sample_id,
            repeat=result.repeat,
            question=question,
            reference=reference,
            response=response,
        )
    first, second = shown_pair(result, response, _printable(baseline))
    return PairEntry(
        sample_id=result.sample_id,
        repeat=result.repeat,
        question=question,
        reference=reference,
        answer_a=first,
        answer_b=second,
    )


def _question(sample: Sample) -> str:
    if isinstance(sample.input, str):
        return "\n\n".join([sample.input, *sample.turns])
    messages: list[Message] = [message for message in sample.input if message.role != "system"]
    texts = [
        message.content if isinstance(message.content, str) else dumps(message.content)
        for message in messages
    ]
    if len(texts) > 1:
        texts = [f"{message.role}: {text}" for message, text in zip(messages, texts, strict=True)]
    return "\n\n".join([*texts, *sample.turns])


def _shown_value(value: object) -> str:
    return value if isinstance(value, str) else dumps(value)


def _printable(text: str) -> str:
    """Return text that every format can hold."""
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()


def _content(sample: Sample | None) -> str:
    """Return what makes a sample the same in two runs: what is asked, and what is right."""
    return "" if sample is None else dumps([_question(sample), sample.target])


def _category(result: Result) -> str:
    return (result.sample.subset if result.sample is not None else None) or ""


def _listed(slots: Sequence[str]) -> str:
    return f": {', '.join(slots)}"

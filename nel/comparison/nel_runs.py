"""Reads a run directory of nel as one side of a comparison, from its artifacts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from nel.comparison.agreement import check_results
from nel.comparison.blocks import BlockReader
from nel.comparison.fields import OF_ROWS
from nel.comparison.lines import (
    SCORED,
    STATES,
    UNSCORED,
    Digests,
    Ints,
    SampleLine,
    digest,
    digests_of,
    gold_digest,
    join_digests,
    length_or_nan,
    number_or_nan,
)
from nel.comparison.sides import (
    Side,
    SideBenchmark,
    Texts,
    readable,
    reward_of,
    text_form,
    text_or_none,
    whole_of,
)
from nel.config.yaml_file import read_value
from nel.core.message_json import with_calls
from nel.core.paths import as_argument
from nel.engine.store.snapshot import FILE_NAME
from nel.errors import ConfigError, OutputError, UsageError
from nel.metrics.category_fields import category_of
from nel.reports.run_files import BenchmarkFiles, by_title, read_aggregates, read_run_yaml
from nel.reports.whole_run import IMPORTED, read_finished_run
from nel.types import JsonObject

_RECORDED: Final = "recorded responses"
_CONTENT_ID: Final = re.compile(
    r"(?P<base>[0-9a-f]{16})(?:#(?P<occurrence>[2-9]|[1-9][0-9]{1,17}))?"
)
"""A hash of the row, with a number where the row is repeated, as `nel.datasets.ids` makes it:
``3f2a9c01b7d45e68``, ``3f2a9c01b7d45e68#2``.
"""
_CONTENT_ID_LENGTH: Final = 16
_HEX: Final = re.compile(r"[0-9a-f]*")


def is_run(path: Path) -> bool:
    """Return whether a directory is a run of nel, finished or not."""
    return (path / FILE_NAME).is_file() or any(path.glob("*/metrics.json"))


def read_side(path: Path, label: str) -> Side:
    """Return a run's benchmarks, their lines not read yet.

    Raises:
        OutputError: The run is not finished, is written right now, or its artifacts are damaged.
    """
    run_files = read_finished_run(path)
    with readable(path):
        benchmarks = {files.title: _benchmark(path, files) for files in run_files}
        models = {
            str(files.bundle["config"]["model"])
            for files in run_files
            if files.bundle["config"].get("model")
        }
        aggregates = by_title(read_aggregates(path))
    run_id = text_or_none(run_files[0].metrics.get("run_id"))
    is_imported = any(benchmark.kind == "imported" for benchmark in benchmarks.values())
    return Side(
        label=label,
        kind="imported" if is_imported else "nel",
        run_id=run_id,
        models=tuple(sorted(models)),
        settings=_settings(path),
        benchmarks=benchmarks,
        aggregates=aggregates,
    )


def _titles(files: BenchmarkFiles) -> dict[str, str]:
    scorer = (files.bundle.get("config") or {}).get("scorer") or {}
    selection = files.metrics.get("selection") or {}
    samples = str(selection.get("text") or "all")
    return {
        "scorer.rules": str(scorer.get("name")).rpartition(":")[2],
        **dict.fromkeys(("samples", *OF_ROWS), samples),
    }


def _benchmark(run_dir: Path, files: BenchmarkFiles) -> SideBenchmark:
    metrics, bundle, where = files.metrics, files.bundle, files.directory
    if not bundle:
        raise OutputError(
            f"{where} has no eval-*.json; make it again with nel report {as_argument(run_dir)}"
        )
    fields = bundle.get("identity_fields")
    if not isinstance(fields, dict):
        raise OutputError(
            f"{where} has no identity; write it again with nel report {as_argument(run_dir)}"
        )
    recorded = fields.get("mode") == _RECORDED
    total = (files.runtime.get("cost") or {}).get("total")
    return SideBenchmark(
        name=files.title,
        kind="nel" if fields.get(IMPORTED) is None else "imported",
        path=where / "results.jsonl",
        read_line=_line,
        read_texts=_texts,
        make_blocks=lambda: BlockReader(_identities, _cause),
        fields=fields,
        titles=_titles(files),
        n_lines=int(metrics["accounting"]["n_total"]),
        recorded=recorded,
        headline=str(metrics["headline"]["metric"]),
        lower_is_better=frozenset(metrics["lower_is_better"]),
        cost=total if isinstance(total, (int, float)) else None,
        failed_metrics=tuple(metrics["failed_metrics"]),
        run_id=text_or_none(metrics.get("run_id")),
        stop_rule=metrics.get("stop_rule"),
        judging=metrics.get("judging"),
        warnings=metrics.get("warnings") or (),
        check=lambda columns: check_results(files, columns),
    )


def _state_and_reward(value: JsonObject, where: str) -> tuple[int, float | None]:
    outcome = value.get("outcome")
    if not isinstance(outcome, dict) or outcome.get("state") not in STATES:
        raise UsageError(f"{where}: there is no outcome; write the results again with nel report")
    state = STATES[outcome["state"]]
    reward = reward_of(value, "reward", where)
    if (reward is None) != (state >= UNSCORED):
        raise UsageError(
            f"{where}: the reward does not fit the outcome; write the results again with nel report"
        )
    return state, reward


def _line(value: JsonObject, where: str, offset: int) -> SampleLine:
    state, reward = _state_and_reward(value, where)
    sample_id, metadata = value.get("sample_id"), value.get("metadata") or {}
    if not isinstance(sample_id, str):
        raise UsageError(
            f'{where}: "sample_id" is not a text; write the results again with nel report'
        )
    sample, occurrence, is_own_id = _identity(sample_id)
    expected = gold_digest(value.get("expected_answer"))
    prompt = digest(value["prompt"]) if value.get("prompt") else 0
    details = value.get("scoring_details") or {}
    return SampleLine(
        where=where,
        offset=offset,
        position=whole_of(value, "problem_idx", where),
        repeat=whole_of(value, "repeat", where),
        sample=sample,
        occurrence=occurrence,
        is_own_id=is_own_id,
        row=join_digests(digest(metadata), expected),
        prompt=prompt,
        expected=expected,
        reward=reward,
        state=state,
        cause="" if state == SCORED else _cause(value["outcome"]),
        metrics={} if state >= UNSCORED else details.get("metrics") or {},
        category=text_form(category_of(metadata)),
        group=text_or_none(value.get("group")),
        model=text_or_none(value.get("served_model")),
        tokens=number_or_nan((value.get("tokens") or {}).get("completion")),
        latency=number_or_nan((value.get("timing") or {}).get("latency_seconds")),
        characters=length_or_nan(value.get("model_response")),
    )


def _identity(sample_id: str) -> tuple[int, int, bool]:
    """Return the digest of an id, its occurrence, and whether it is the row's own id."""
    match = _CONTENT_ID.fullmatch(sample_id) if len(sample_id) >= _CONTENT_ID_LENGTH else None
    if match is None:
        return digest(sample_id), 1, True
    return int(match["base"], 16), int(match["occurrence"] or 1), False


def _identities(sample_ids: Sequence[str]) -> tuple[Digests, Ints, bool]:
    """Return `_identity` of many ids; the last is whether all are the rows' own."""
    # A block of ids of one kind is read at once: all too short to be hashes, or all plain hashes.
    lengths = set(map(len, sample_ids))
    once = np.ones(len(sample_ids), dtype=np.int64)
    if max(lengths) < _CONTENT_ID_LENGTH:
        return digests_of(sample_ids), once, True
    text = "".join(sample_ids)
    if lengths == {_CONTENT_ID_LENGTH} and _HEX.fullmatch(text):
        return np.frombuffer(bytes.fromhex(text), dtype=">u8").astype(np.uint64), once, False
    identities, occurrences, are_own = zip(*map(_identity, sample_ids), strict=True)
    return (
        np.array(identities, dtype=np.uint64),
        np.array(occurrences, dtype=np.int64),
        all(are_own),
    )


def _cause(outcome: JsonObject) -> str:
    cause, kind = outcome.get("cause"), outcome.get("kind")
    return f"{cause}: {kind}" if cause else str(kind or "")


def _texts(value: JsonObject) -> Texts:
    outcome = value["outcome"]
    return Texts(
        sample_id=str(value["sample_id"]),
        prompt=value.get("prompt"),
        expected=value.get("expected_answer"),
        response=text_or_none(with_calls(value.get("model_response"), value.get("tool_calls"))),
        extracted=text_or_none(value.get("extracted_answer")),
        reward=value["reward"],
        outcome="scored" if outcome["state"] == "scored" else _cause(outcome),
    )


def _settings(run_dir: Path) -> dict[str, object]:
    """Return the settings of run.yaml as flat keys, none where there is no such file."""
    text = read_run_yaml(run_dir)
    if text is None:
        return {}
    try:
        settings = read_value(text, str(run_dir / "run.yaml"))
    except ConfigError as error:
        raise OutputError(
            f"{error}; make it again with nel report {as_argument(run_dir)}"
        ) from error
    return dict(_flat(settings, "")) if isinstance(settings, dict) else {}


def _flat(value: object, name: str) -> list[tuple[str, object]]:
    # {"judge": [{"url": "u"}], "stop": ["a"]} gives judge.0.url = "u" and stop = ["a"].
    if isinstance(value, dict) and value:
        elements = list(value.items())
    elif isinstance(value, list) and any(isinstance(element, dict) for element in value):
        elements = list(enumerate(value))
    else:
        return [(name, value)]
    pairs: list[tuple[str, object]] = []
    for key, element in elements:
        pairs += _flat(element, f"{name}.{key}" if name else str(key))
    return pairs

"""Formats ``extraction`` of metrics.json: what each way of reading extracts from the answers.

Excerpts of model output are cut to previews; the caller escapes each text before printing it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from nel.core.strict_json import loads
from nel.errors import OutputError
from nel.reading.types import LENIENT, OFFICIAL, SCORED, STRICT
from nel.reports import numbers
from nel.reports.run_files import BenchmarkFiles
from nel.reports.text import cut
from nel.types import JsonObject

_NAME: Final = "extraction_audit.json"
_CHARACTERS_MAX: Final = 200
MEANINGS: Final = {
    SCORED: "what the run's scorer read, as the score counts it",
    STRICT: "only what is declared as the answer, or is the whole response",
    LENIENT: "every form of answer that nel reads",
    OFFICIAL: "the rule that the benchmark's authors published",
    "model": "what a model read where the run's scorer found no answer; not part of the band",
}


def band_text(metrics: JsonObject) -> str:
    """Return one line on how far the score depends on the way of reading; empty without an audit.

    Args:
        metrics: The content of metrics.json.
    """
    extraction = metrics.get("extraction")
    if not extraction:
        return ""
    n_differ, n = numbers.count(extraction["n_differ"]), numbers.count(extraction["n_answers"])
    differing = f"{n_differ} of {n} answers are read differently"
    band = extraction["band"]
    if band is None:
        return f"no band by the way of reading: {extraction['reason']}; {differing}"
    span = numbers.interval(band["lower"], band["upper"], "rate")
    return f"{span} by the way of reading; {differing}"


def reading_rows(extraction: JsonObject) -> list[dict[str, str]]:
    """Return a row for each way of reading: name, meaning, answers that it finds, and score."""
    return [
        {
            "name": name,
            "meaning": MEANINGS[name],
            "found": f"{numbers.count(reading['n_found'])} of {numbers.count(reading['n'])}",
            "score": "none" if reading["score"] is None else numbers.percent(reading["score"]),
        }
        for name, reading in _order(extraction["readings"])
    ]


def readings_of_samples(files: BenchmarkFiles) -> dict[tuple[str, object], str]:
    """Return, by sample id and repeat, the readings of answers that are read differently, as text.

    Raises:
        OutputError: extraction_audit.json is damaged.
    """
    path = files.directory / _NAME
    if not files.metrics.get("extraction") or not path.is_file():
        return {}
    readings: dict[tuple[str, object], str] = {}
    try:
        for difference in loads(path.read_bytes())["differences"]:
            key = str(difference["sample_id"]), int(difference["repeat"])
            readings[key] = "\n".join(_lines(difference))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise OutputError(f"{path} is damaged; make it again with nel report") from error
    return readings


def _lines(difference: JsonObject) -> Iterator[str]:
    for name, way in _order(difference["readings"]):
        if way["value"] is None:
            yield f"{name}: no answer"
        else:
            worth = worth_text(name, way["reward"])
            rule = f"; form: {way['form']}" if "form" in way else ""
            yield f"{name}: {cut(way['value'], _CHARACTERS_MAX)}, {worth}{rule}"
        if way.get("excerpt"):
            yield f"    {way['start']}–{way['end']}: {cut(way['excerpt'], _CHARACTERS_MAX)}"
        for rejected in way.get("rejected", ()):
            yield (
                f"    rejected, {rejected['why']}: {rejected['start']}–{rejected['end']}:"
                f" {cut(rejected['excerpt'], _CHARACTERS_MAX)}"
            )


def worth_text(way: str, reward: float) -> str:
    """Return the verdict on an answer as one way reads it; only the scorer's own reading counts."""
    if reward == 1:
        word = "right"
    elif reward == 0:
        word = "wrong"
    else:
        word = numbers.plain(reward)
    return word if way == SCORED else f"would be {word}"


def _order(readings: JsonObject) -> list[tuple[str, Any]]:
    return [(name, readings[name]) for name in MEANINGS if name in readings]

"""Compare what nel reads with what the labels say: `python -m tests.labelled_outputs.agreement [READER ...]`.

Prints a table of each kind and reader, and the rows on which they differ. Where an answer is stated, a reader finds it,
another one or none; where none is stated, it finds none or guesses. READER shows the rows of these readers alone.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from nel.benchmarks.knowledge.mmlu import pro as mmlu_pro
from nel.benchmarks.mathematics import aime
from nel.benchmarks.reasoning import bbh_answers
from nel.reading.decisions import read_decision
from nel.reading.letters import labels_for, read_letter
from nel.reading.numbers import last_number, read_number
from nel.reading.numerals import numbers_equal
from nel.reading.response import own_response
from nel.reading.texts import read_text
from nel.reading.types import DECLARING
from tests.labelled_outputs import Kind, LabelledOutput, labelled
from tests.support.runs import SHARED

FOUND: Final = ("right", "another", "nothing", "none, rightly", "guessed")
"""What a reader can find; the last two where no answer is stated."""
_OPTION = re.compile(r"(?m)^\(([A-K])\) (.*)$")
_WORDS: Final = {"true": "yes", "false": "no"}


def options_of(output: LabelledOutput) -> tuple[str, ...]:
    """Return the texts of the options: recorded, or listed in the question; GPQA's four were not recorded."""
    return output.options or tuple(text for _, text in _OPTION.findall(output.question or ""))


def _labels(output: LabelledOutput) -> tuple[str, ...]:
    return labels_for(len(options_of(output)) or 4)


def _given(output: LabelledOutput) -> str | None:
    return read_letter(own_response(output.response), _labels(output), options_of(output) or None).value


def _declared(output: LabelledOutput) -> str | None:
    reading = read_letter(own_response(output.response), _labels(output))
    return reading.value if reading.form in DECLARING else None


def _number(output: LabelledOutput) -> str | None:
    return read_number(own_response(output.response)).value


def _declared_text(output: LabelledOutput) -> str | None:
    return read_text(own_response(output.response), declared_only=True).value


def by_benchmark(output: LabelledOutput) -> str | None:
    """Return what the rule of the output's own benchmark reads."""
    if output.task == "gpqa_diamond":
        return _given(output)
    if output.task == "mmlu_pro":
        return mmlu_pro.extract(output.response)
    if output.task == "gsm8k":
        return _number(output)
    if output.task == "aime24":
        return aime.whole_number(output.response)
    found = bbh_answers.read_answer(own_response(output.response), output.target, output.question or "")
    return found.strip("()") if found and output.kind == "letter" else found


READERS: Final[dict[Kind, dict[str, Callable[[LabelledOutput], str | None]]]] = {
    "letter": {"benchmark": by_benchmark, "given_labels": _given, "declared_label": _declared},
    "number": {
        "benchmark": by_benchmark,
        "read_number": _number,
        "last_number": lambda output: last_number(output.response),
        "answer_line": _declared_text,
    },
    "yes_no": {
        "benchmark": by_benchmark,
        "decision": lambda output: read_decision(own_response(output.response)).value,
        "answer_line": _declared_text,
    },
    "text": {"benchmark": by_benchmark, "answer_line": _declared_text},
}


def same(kind: Kind, read: str, stated: str) -> bool:
    """Return whether a reader found the stated answer: by value, or word for word without case."""
    if kind == "number":
        return numbers_equal(read, stated)
    words = read.casefold().split(), stated.casefold().split()
    return words[0] == words[1] or (kind == "yes_no" and _decided(words[0]) == _decided(words[1]))


def _decided(words: list[str]) -> list[str]:
    return [_WORDS.get(word, word) for word in words]


def found_by(reader: Callable[[LabelledOutput], str | None], output: LabelledOutput) -> tuple[str, str | None]:
    """Return which of `FOUND` a reader's reading is, and the reading."""
    read = reader(output)
    if output.stated is None:
        return ("none, rightly" if read is None else "guessed"), read
    if read is None:
        return "nothing", read
    return ("right" if same(output.kind, read, output.stated) else "another"), read


def _table(readings: list[tuple[LabelledOutput, str, str, str | None]]) -> Iterator[str]:
    yield f"{'kind':8} {'reader':16} {'drawn':8}" + "".join(f"{name:>15}" for name in FOUND) + f"{'agrees':>9}\n"
    for kind, readers in READERS.items():
        for reader in readers:
            for drawn in ("random", "hard"):
                counts = Counter(
                    found
                    for output, name, found, _ in readings
                    if (output.kind, name, output.drawn) == (kind, reader, drawn)
                )
                agrees = (counts["right"] + counts["none, rightly"]) / counts.total()
                columns = "".join(f"{counts[name]:>15}" for name in FOUND)
                yield f"{kind:8} {reader:16} {drawn:8}{columns}{agrees:>9.1%}\n"


def _differences(readings: list[tuple[LabelledOutput, str, str, str | None]], shown: set[str]) -> Iterator[str]:
    for output, reader, found, read in readings:
        if reader in shown and found not in {"right", "none, rightly"}:
            place = f"{output.file} {output.row} {output.task}"
            yield f"{output.kind} {reader}: {found}: {place}: stated {output.stated!r}, read {(read or '')[:60]!r}"
            yield f" ({output.note})\n" if output.note else "\n"


def main(shown: set[str]) -> None:
    """Print the table and the differing rows.

    Raises:
        SystemExit: ../shared/data is not there.
    """
    if not SHARED.is_dir():
        sys.exit("../shared/data is not there; the labels name outputs in it")
    readings = [
        (output, name, *found_by(reader, output))
        for output in labelled()
        for name, reader in READERS[output.kind].items()
    ]
    sys.stdout.writelines(_table(readings))
    sys.stdout.writelines(_differences(readings, shown or {name for readers in READERS.values() for name in readers}))


if __name__ == "__main__":
    main(set(sys.argv[1:]))

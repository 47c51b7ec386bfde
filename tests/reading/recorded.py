"""Recorded outputs of ../shared/data as the readers are asked for them, and how well they are read.

python -m tests.reading.recorded          prints the counts of recorded.json as they are now
python -m tests.reading.recorded --write  writes them, where no set is read worse and the versions of reading are raised
"""

from __future__ import annotations

import ast
import gzip
import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from nel.reading.decisions import read_decision
from nel.reading.formulas import read_formula
from nel.reading.labels import read_label
from nel.reading.letters import labels_for, read_letter
from nel.reading.numbers import read_number, stated_value
from nel.reading.numerals import parse_number
from nel.reading.response import Answer, own_response
from nel.reading.table import rule_versions
from nel.reading.texts import read_text
from nel.reading.types import Reading
from nel.scoring.words import same_text
from tests.support.runs import SHARED

COUNTS: Final = Path(__file__).with_name("recorded.json")
ROWS_MAX: Final = 500
"""Of each set, evenly spread; all sets together take some seconds."""
UNKNOWN_CHOICES: Final = 10
"""Labels that are read where a set does not record its options."""
_OTHER_KINDS: Final = frozenset(("can_ai_code_a", "drift_leetcode", "llmbar"))
"""Programs, which tests/reading/programs reads, and replies of judges."""
_OPTION: Final = re.compile(r"(?m)^\(([A-Z])\) (.*)$")


@dataclass(frozen=True, slots=True)
class Output:
    """One recorded output."""

    kind: str
    """letter, number, yes_no, label, text or formula."""
    response: str
    prompt: str
    gold: str | list[str]
    choices: list[str] | None = None
    read: str | None = None
    """What the source's own rule read, where it is recorded."""


def sets() -> tuple[str, ...]:
    """Return the names of the recorded sets, in order."""
    corpus = (path.name.partition(".")[0] for path in sorted(SHARED.glob("corpus*/*.jsonl.gz")))
    return (*(name for name in corpus if name not in _OTHER_KINDS), *_OTHER_FILES)


@cache
def outputs(name: str) -> tuple[Output, ...]:
    """Return the outputs of a set, in the order of its file."""
    if name in _OTHER_FILES:
        return tuple(map(_OTHER_FILES[name], _rows(SHARED / f"{name}.jsonl.gz")))
    (path,) = SHARED.glob(f"corpus*/{name}.jsonl.gz")
    return tuple(map(_corpus_output, _rows(path)))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def _corpus_output(row: dict[str, Any]) -> Output:
    kind, choices = row["kind"], row["choices"]
    if row["set"] == "mr_gsm8k":  # a judge's verdict on a solution
        kind, choices = "label", ["correct", "wrong"]
    return Output(kind, row["response"], row["prompt"] or "", row["gold"], choices, row.get("read"))


def _finetuned(row: dict[str, Any]) -> Output:
    return Output("number", row["model_output"], row["question"], row["answer"].rsplit("A:", 1)[1].strip())


def _davinci(row: dict[str, Any]) -> Output:
    return Output("number", row["model_output"], row["question"], row["answer"])


def _bbh(row: dict[str, Any]) -> Output:
    """Return an output of BIG-Bench Hard, of the kind that its target is of."""
    target = row["target"].strip()
    kind, choices, gold = "text", None, target
    if re.fullmatch(r"\([A-Z]\)", target):
        kind, choices, gold = "letter", [text for _, text in _OPTION.findall(row["input"])], target[1]
    elif target.lower() in ("yes", "no", "true", "false"):
        kind, gold = "yes_no", {"true": "yes", "false": "no"}.get(target.lower(), target.lower())
    elif target in ("valid", "invalid"):
        kind, choices = "label", ["valid", "invalid"]
    elif re.fullmatch(r"-?\d+", target):
        kind = "number"
    return Output(kind, row["model_output"], "Q: " + row["input"], gold, choices)


def _mmlu_pro(row: dict[str, Any]) -> Output:
    question = "Question:\n" + row["question"]
    return Output("letter", row["generated_text"], question, row["answer"], row["options"], row["pred"])


def _tagged(row: dict[str, Any]) -> Output:
    kind = "letter" if row["benchmark"].startswith("gpqa") else "number"
    return Output(kind, row["model_output"], "", str(row["target"]))


_OTHER_FILES: Final[dict[str, Callable[[dict[str, Any]], Output]]] = {
    "gsm8k_outputs_6b_finetuning": _finetuned,
    "gsm8k_outputs_text_davinci_002": _davinci,
    "bbh_outputs_code_davinci_002": _bbh,
    "mmlu_pro_outputs_llama31_8b": _mmlu_pro,
    "tagged_outputs_gpqa_aime": _tagged,
}


def read_output(output: Output) -> Reading:
    """Return how the reader of its kind reads an output, without a declared form."""
    response = own_response(output.response, output.prompt)
    if output.kind == "letter":
        n = len(output.choices) if output.choices else UNKNOWN_CHOICES
        return read_letter(response, labels_for(n), output.choices)
    if output.kind == "label":
        return read_label(response, output.choices or [])
    return _READERS[output.kind](response)


_READERS: Final[dict[str, Callable[[Answer], Reading]]] = {
    "number": read_number,
    "yes_no": read_decision,
    "text": read_text,
    "formula": read_formula,
}


def equals(kind: str, value: str | None, target: str | list[str]) -> bool:
    """Return whether a value of a kind is the target, or one of several."""
    if value is None:
        return False
    if isinstance(target, list):
        return any(equals(kind, value, text) for text in target)
    if kind == "number":
        number = parse_number(value)
        return number is not None and number in (parse_number(target), stated_value(target))
    if kind == "formula":
        return _stripped(value) == _stripped(target)
    if kind == "text":
        literal = _literal(value)
        return same_text(value, target) or (literal is not None and literal == _literal(target))
    return value == target


def _stripped(formula: str) -> str:
    return "".join(formula.split()).strip("$.")


def _literal(text: str) -> str | None:
    try:
        return repr(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def is_as_source(output: Output, value: str | None) -> bool:
    """Return whether a value is what the source's own rule read, with JSON's escapes in it."""
    if output.read is None:
        return False
    texts = (output.read, _unescaped(output.read))
    if value in texts or any(equals(output.kind, value, text) for text in texts):
        return True
    declared = f'Answer: """\n{output.read}\n"""'
    of_source = read_output(replace(output, response=declared)).value
    return value == of_source or (of_source is not None and equals(output.kind, value, of_source))


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text


def counts(name: str) -> dict[str, int | str]:
    """Return how many of evenly spread outputs of a set are read, equal to the gold answer, and to ``read``.

    ``values`` is a digest of all values that are read.
    """
    every = outputs(name)
    sample = every[:: -(-len(every) // ROWS_MAX)]
    values = [read_output(output).value for output in sample]
    pairs = list(zip(sample, values, strict=True))
    return {
        "outputs": len(sample),
        "read": sum(value is not None for value in values),
        "gold": sum(equals(output.kind, value, output.gold) for output, value in pairs),
        "as_source": sum(is_as_source(output, value) for output, value in pairs),
        "values": hashlib.sha256(repr(values).encode()).hexdigest()[:16],
    }


def problems(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return why counts may not be written: a set is read worse, or read otherwise under the same versions."""
    sets_before = {name: before["sets"][name] for name in now["sets"] if name in before["sets"]}
    worse = [
        f"{name}: {key} {old[key]} before, {now['sets'][name][key]} now"
        for name, old in sets_before.items()
        for key in ("gold", "as_source")
        if now["sets"][name][key] < old[key]
    ]
    changed = [name for name, old in sets_before.items() if now["sets"][name]["values"] != old["values"]]
    if changed and before["versions"] == now["versions"]:
        worse.append(f"{', '.join(changed)}: read otherwise; raise the version of what changed in forms.toml")
    return worse


def main() -> None:
    """Print the counts of every set, or write them."""
    now = {"versions": dict(rule_versions()), "sets": {name: counts(name) for name in sets()}}
    text = json.dumps(now, indent=1) + "\n"
    if "--write" in sys.argv:
        refused = problems(json.loads(COUNTS.read_text(encoding="utf-8")), now)
        if refused:
            sys.exit("\n".join(refused))
        COUNTS.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()

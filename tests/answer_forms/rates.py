"""How often the readers err on generated answers whose truth is known, for each kind of answer and each half of the forms.

    python -m tests.answer_forms.rates [--count 20000] [--kinds letter,number] [--write]

The halves stand apart: one was written by people who knew the readers' errors, the other without looking at them. With
``--write`` the rates are kept in ``measured.json``, from which docs/reference/what-counts.md shows them.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from nel.scoring.mathematics.answer import final_expression
from nel.scoring.mathematics.comparison import expressions_equal
from nel.scoring.numeric.numbers import numbers_equal
from nel.scoring.reading.categories import read_category
from nel.scoring.reading.letters import labels_for, read_labels
from nel.scoring.reading.numbers import read_number
from nel.scoring.reading.run_on import cut_run_on
from nel.scoring.reading.texts import read_text
from nel.scoring.reading.yes_no import read_decision
from nel.scoring.text import same_text
from tests.answer_forms import blind, informed
from tests.answer_forms.form import Form, Kind

MEASURED = Path(__file__).parent / "measured.json"
HALVES: dict[str, Callable[[Kind, int, int], Iterator[Form]]] = {"blind": blind.generate, "informed": informed.generate}
SEED = 1


def _letter(form: Form) -> str | None:
    value = read_labels(_own(form), labels_for(len(form.options) or 4), form.options or None).value
    return value if value and "," not in value else None


def _own(form: Form) -> str:
    return cut_run_on(form.response, form.prompt)


def _exactly(left: str, right: str) -> bool:
    return left == right


def _mathematically(left: str, right: str) -> bool:
    return left.strip("$ ") == right.strip("$ ") or expressions_equal(right, left)


READERS: dict[Kind, tuple[Callable[[Form], str | None], Callable[[str, str], bool]]] = {
    "letter": (_letter, _exactly),
    "number": (lambda form: read_number(_own(form)).value, numbers_equal),
    "yes_no": (lambda form: read_decision(_own(form)).value, _exactly),
    "text": (lambda form: read_text(_own(form)).value, same_text),
    "label": (lambda form: read_category(_own(form), form.options).value, _exactly),
    "mathematics": (lambda form: final_expression(_own(form)), _mathematically),
}
"""How each kind of answer is read, and when what was read is what was stated."""


def rates(half: str, kind: Kind, count: int, seed: int = SEED) -> dict[str, float]:
    """Return the shares of errors among `count` forms.

    Returns:
        ``forms`` and ``stating`` (counts); of all forms ``wrong_counted_right`` (what was read is a wrong answer that
        the form is tested against); of those that state an answer ``another_read`` and ``not_read``; of the others
        ``read_although_none``.
    """
    read, same = READERS[kind]
    found: Counter[str] = Counter()
    for form in HALVES[half](kind, count, seed):
        value = read(form)
        right = value is not None and form.stated is not None and same(value, form.stated)
        found["stating"] += form.stated is not None
        found["another_read"] += form.stated is not None and value is not None and not right
        found["not_read"] += form.stated is not None and value is None
        found["read_although_none"] += form.stated is None and value is not None
        if value is not None and not right:
            found["wrong_counted_right"] += any(same(value, other) for other in form.others)
    stating, silent = found["stating"], count - found["stating"]
    return {
        "forms": count,
        "stating": stating,
        "wrong_counted_right": round(found["wrong_counted_right"] / count, 5),
        "another_read": round(found["another_read"] / max(1, stating), 5),
        "not_read": round(found["not_read"] / max(1, stating), 5),
        "read_although_none": round(found["read_although_none"] / max(1, silent), 5),
    }


def main() -> None:
    """Print the rates, and keep them where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--kinds", default=",".join(READERS))
    parser.add_argument("--seed", type=int, default=SEED, help=f"another one than {SEED} is not kept")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    kept = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    for kind in given.kinds.split(","):
        for half in HALVES:
            kept.setdefault(kind, {})[half] = measured = rates(half, kind, given.count, given.seed)
            print(f"{kind:12} {half:9}", " ".join(f"{name}={value:g}" for name, value in measured.items()), flush=True)
    if given.write and given.seed == SEED:
        MEASURED.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

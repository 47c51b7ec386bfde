"""``selection`` of metrics.json: which questions a score is of, and the effect on intervals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from nel.engine.store.elsewhere import shard_of
from nel.metrics.accumulator import Accounting
from nel.metrics.category_fields import FIELDS, GROUP, SUBSET, Fields, labels_of
from nel.metrics.intervals import no_interval
from nel.metrics.question_intervals import Design
from nel.types import JsonObject

_PLURALS: Final = {
    SUBSET: "categories",
    GROUP: "groups",
    **dict(zip(FIELDS, ("categories", "subjects"), strict=True)),
}


def selection_json(plan: JsonObject) -> dict[str, Any] | None:
    """Return which questions were asked, with a line that says so; None for imported results."""
    plan_selection = plan.get("selection")
    if plan_selection is None:
        return None
    names = ("kind", "n", "of", "is_exact", "seed", "by", "n_strata")
    selection = {name: plan_selection[name] for name in names}
    return {**selection, "text": selection_text(plan_selection)}


def selection_text(selection: JsonObject) -> str:
    """Return what a score is of, in one line; empty where every question was to be asked.

    >>> first = {"kind": "first", "n": 200, "of": 12032, "is_exact": True, "by": "category",
    ...          "n_strata": 14, "n_strata_asked": 1, "seed": None}
    >>> selection_text(first)
    'the first 200 of 12,032, 1 of 14 categories; not a sample'
    >>> selection_text({**first, "kind": "sample", "n_strata_asked": 14, "seed": 0})
    'a sample of 200 of 12,032, drawn in proportion from 14 categories with seed 0'
    """
    n, of = f"{selection['n']:,}", f"{selection['of']:,}"
    strata = ""
    if selection["by"] is not None:
        strata = f"{selection['n_strata']:,} {_PLURALS[selection['by']]}"
    if selection["kind"] == "first":
        # Only where all rows were read is it known how many there are, and in which strata.
        if not selection["is_exact"]:
            of = f"more than {of}"
        elif strata:
            of += f", {selection['n_strata_asked']:,} of {strata}"
        return f"the first {n} of {of}; not a sample"
    if selection["kind"] == "sample":
        draw_text = f"drawn in proportion from {strata}" if strata else "drawn"
        return f"a sample of {n} of {of}, {draw_text} with seed {selection['seed']}"
    return ""


class QuestionDraw:
    """How the questions of a run were drawn, as the intervals of its numbers have to know it."""

    def __init__(self, plan: JsonObject) -> None:
        """Begin without a question.

        Args:
            plan: Of the benchmark, as the store has it.
        """
        selection = plan.get("selection") or {}
        self._by = selection.get("by")
        self._strata: dict[int, str] = {}
        fixed = None
        if selection.get("kind") == "first":
            fixed = no_interval(selection_text(selection), "none")
        plain_design = Design(repeats=plan["repeats"], fixed=fixed)
        self.design = replace(
            plain_design, sizes=selection.get("strata") or {}, strata=self._strata
        )
        is_by_category = self._by and self._by != GROUP
        self.of_category = self.design if is_by_category else plain_design
        """For questions of one category, whose number is known where the sample was drawn by it."""

    def add(self, question: int, fields: Fields | None, group: str | None) -> None:
        """Note the stratum of a question."""
        if self.design.sizes:
            self._strata[question] = labels_of(fields, group).get(self._by or "", "")


def shard_json(plan: JsonObject, accounting: Accounting, *, is_done: bool) -> JsonObject:
    """Return ``shard`` of the artifacts of a shard, done or not; nothing for a whole run."""
    shard = shard_of(plan.get("identity"))
    if shard is None:
        return {}
    repeats = plan["repeats"]
    return {
        "shard": {
            "number": shard.number,
            "of": shard.of,
            "n_questions": accounting.n_total // repeats,
            "n_questions_asked": accounting.n_asked // repeats,
            "complete": is_done,
        }
    }

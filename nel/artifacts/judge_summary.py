"""``judging`` of metrics.json: counts of the judges' work, and warnings about the judges.

A warning names a measured number and the bound that it misses, never a cause that was not measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final

from nel.core.texts import count_text
from nel.judges.model_family import families_of, same_family, same_model
from nel.judges.types import SETTING_FAULTS
from nel.types import JsonObject

ALPHA_MIN: Final = 0.667
"""Krippendorff draws not even tentative conclusions below it (Content Analysis, 2004, ch. 11)."""
KAPPA_MIN: Final = 0.6
"""From here on Landis and Koch (1977) call agreement substantial."""
SELF_CONSISTENCY_MIN: Final = 0.95
WITHOUT_VERDICT_MAX: Final = 0.05
"""Share of cases."""
_HALF: Final = 0.5
_DETAIL_MAX: Final = 500
"""Characters of the message of a fault."""


def judging_json(
    counts: dict[str, Any] | None, plan: JsonObject, *, judges: Mapping[str, str]
) -> dict[str, Any] | None:
    """Return the ``judging`` object, None where nothing was judged.

    Args:
        counts: Of the benchmark, as `nel.judges.stats.summary.JudgingCounts` has them.
        plan: Of the benchmark, as the store has it.
        judges: The configured model of each judge.
    """
    if counts is None:
        return None
    plan_settings = plan.get("judge") or {}
    names = ("aggregate", "quorum", "repeats", "swap")
    return {
        **counts,
        "judges": [{**judge, "model": judges.get(judge["name"])} for judge in counts["judges"]],
        "settings": {name: plan_settings.get(name) for name in names},
    }


def judging_warnings(
    judging: JsonObject | None,
    plan: JsonObject,
    *,
    models: Iterable[str],
    models_by_judge: Mapping[str, Iterable[str]],
    faults: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """Yield warnings about the judges.

    Args:
        judging: As `judging_json` returns it.
        plan: Of the benchmark, as the store has it.
        models: Names of the evaluated model, by its server.
        models_by_judge: Names of each judge's model, by its server.
        faults: The first message of each kind of fault.
    """
    if judging is None:
        return
    evaluated = set(models)
    if plan.get("model"):
        evaluated.add(str(plan["model"]))
    yield from _kinship(judging["judges"], evaluated, models_by_judge)
    yield from _unasked_causes(judging["n_without_grade"]["kinds"], faults or {})
    yield from _missing(judging)
    for row in judging["agreement"]:
        yield from _disagreement(row)
    for row in judging["self_consistency"]:
        agreed = row["unanimous"]["value"]
        if agreed is not None and agreed < SELF_CONSISTENCY_MIN:
            yield (
                f"{row['judge']} contradicts itself: all repeats of a case agree in"
                f" {_percent(agreed)} of {row['n_units']:,} cases ({row['template']}), less than"
                f" {_percent(SELF_CONSISTENCY_MIN)}"
            )
    for row in judging["position_swap"]:
        yield from _bias(row)


def _unasked_causes(kinds: Mapping[str, int], faults: Mapping[str, str]) -> Iterator[str]:
    """Yield why samples could not be sent to any judge, for causes that a retry does not fix."""
    for kind in sorted(SETTING_FAULTS & kinds.keys()):
        if faults.get(kind):
            yield (
                f"no judge could be asked about {count_text(kinds[kind], 'sample')} ({kind}):"
                f" {faults[kind][:_DETAIL_MAX]}"
            )


def _kinship(
    judges: Sequence[JsonObject],
    evaluated: set[str],
    models_by_judge: Mapping[str, Iterable[str]],
) -> Iterator[str]:
    for judge in judges:
        # By the name in the configuration and by those that the server reports.
        configured = str(judge["model"] or judge["name"])
        names = sorted({configured, *models_by_judge.get(judge["name"], ())})
        pairs = list(product(names, sorted(evaluated)))
        same_models = [name for name, model in pairs if same_model(name, model)]
        kin = [(name, model) for name, model in pairs if same_family(name, model)]
        if same_models:
            yield (
                f"{judge['name']} judges itself: {same_models[0]} is the evaluated model; models favour"
                " their own answers"
            )
        elif kin:
            name, model = kin[0]
            family = min(families_of(name) & families_of(model))
            yield (
                f"{judge['name']} judges its own family: {name} and {model} are both {family}; "
                "models favour answers like their own"
            )


def _bias(row: JsonObject) -> Iterator[str]:
    share, changed = row["first_share"], row["n_first"] + row["n_second"]
    # Of the verdicts that change with the order, an unbiased judge favours each seat in half.
    if share["ci_lower"] is None or share["ci_lower"] <= _HALF <= share["ci_upper"]:
        return
    seat = "first" if share["value"] > _HALF else "second"
    n = row[f"n_{seat}"]
    yield (
        f"{row['judge']} prefers the {seat} answer it is shown: of {changed:,} verdicts that"
        f" changed with the order {n:,} favour it ({row['template']}, {row['n_pairs']:,} pairs)"
    )


def _missing(judging: JsonObject) -> Iterator[str]:
    n_judged, n_without = judging["n_judged"], judging["n_without_grade"]["n"]
    if n_without > WITHOUT_VERDICT_MAX * n_judged:
        yield (
            f"{n_without:,} of {n_judged:,} judged samples have no verdict, more than"
            f" {_percent(WITHOUT_VERDICT_MAX)}"
        )
    n_cases, n_ungraded = judging["n_cases"], judging["n_cases_without_grade"]
    if not n_without and n_ungraded > WITHOUT_VERDICT_MAX * n_cases:
        yield (
            f"{n_ungraded:,} of {n_cases:,} cases got no verdict, and the scorer scored their"
            " samples all the same"
        )
    if len(judging["judges"]) == 1:  # the totals above are those of the only judge
        return
    for judge in judging["judges"]:
        cases, verdicts = judge["cases"], judge["verdicts"]
        n_missing = cases - verdicts
        if cases and not verdicts:
            yield f"{judge['name']} gave no opinion at all in {count_text(cases, 'case')}"
        elif n_missing > WITHOUT_VERDICT_MAX * cases:
            yield f"{judge['name']} gave no verdict in {n_missing:,} of {cases:,} cases"


def _disagreement(row: JsonObject) -> Iterator[str]:
    alpha, kappa = row["alpha"], row["kappa"]
    if alpha["value"] is not None and alpha["value"] < ALPHA_MIN:
        yield (
            f"the judges disagree: Krippendorff's alpha is {alpha['value']:.3f}{_span(alpha)} over"
            f" {row['n_units']:,} cases ({row['template']}), below {ALPHA_MIN}, where not even"
            " tentative conclusions hold"
        )
    elif kappa["value"] is not None and kappa["value"] < KAPPA_MIN:
        yield (
            f"the judges agree little beyond chance: kappa is {kappa['value']:.3f}{_span(kappa)}"
            f" over {row['n_units']:,} cases ({row['template']}), below {KAPPA_MIN}"
        )


def _span(statistic: Mapping[str, object]) -> str:
    if statistic["ci_lower"] is None or statistic["ci_upper"] is None:
        return ""
    return f" [{statistic['ci_lower']:.3f}, {statistic['ci_upper']:.3f}]"


def _percent(share: float) -> str:
    return f"{share * 100:.4g} %"

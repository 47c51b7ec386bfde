"""Turns docstrings into pages of the reference: scorers, metrics and reducers. Reads code; writes
nothing.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from nel import plugins

ERRORS = r"Raises:\n(?: .*\n?)*"
EXAMPLES_MAX = 2
"""Of each function, on pages that show examples."""
EXAMPLES = r">>>(?:.+\n?)*"
SCORER_GROUPS = (
    (
        "Primitives",
        "`from nel import NAME`, or `--scorer NAME`. Building blocks of one's own `@scorer`.",
        ("exact_match", "fuzzy_match", "multichoice_regex", "answer_line", "text_match", "numeric_match", "math_equal"),
        "nel",
    ),
    (
        "Scorers for one's own benchmark",
        "`from nel.byob.scorers import NAME`, or `--scorer NAME`. Every number a scorer returns becomes a metric.",
        (
            "exact_match", "contains", "f1_token", "regex_match", "bleu", "rouge", "chrf", "retrieval_metrics",
            "mcq_letter_extract", "label_match", "multiple_choice", "multiple_choice_acc", "ranked_choice",
            "choice_mass", "gsm8k_answer", "boolean_yesno", "any_of", "all_of",
        ),
        "nel.byob.scorers",
    ),
    (
        "Configurable scorers",
        "`from nel.scorers import NAME`, or `--scorer NAME:key=value`. Each builds a scorer from its options.",
        ("match", "includes", "pattern", "answer", "choice", "f1", "exact", "multi_scorer"),
        "nel.scorers",
    ),
    (
        "Programs, in the sandbox",
        "`from nel import NAME`, or `--scorer NAME:key=value`. See [the sandbox](../explanation/sandbox.md).",
        ("code_sandbox",),
        "nel",
    ),
    (
        "Structured output",
        "`from nel import NAME`.",
        ("extract_json", "validate_json_schema"),
        "nel",
    ),
    (
        "Answers that a model judges",
        "`from nel import needs_judge`. See [how to have answers judged](../how-to/judge-answers.md).",
        ("needs_judge",),
        "nel",
    ),
    (
        "A judge's grade within a scorer",
        "`from nel.byob.judge import judge_score`.",
        ("judge_score",),
        "nel.byob.judge",
    ),
    (
        "Graders",
        "`from nel.scorers import NAME`, or `--scorer NAME:key=value`.",
        ("model_graded_qa", "model_graded_fact"),
        "nel.scorers",
    ),
    (
        "Corpus scores",
        "`from nel.scoring import NAME`; as metrics of a run: `--metric corpus_bleu`, `--metric corpus_chrf`, `--metric corpus_ter`. A corpus has each answer of a question that was asked several times, the text of failed ones too, and none of those that are unscored.",
        ("corpus_bleu", "corpus_chrf", "corpus_ter"),
        "nel.scoring",
    ),
)  # fmt: skip
REDUCERS_INTRODUCTION = """`from nel.scorers import NAME`, or `--reducer NAME`, with its k after it (`pass_at_3`).
`pass_at_k`, `vote_at_k` and `pass_hat_k`, also with `mean_and_` before them, stand for every k up to the repeats;
`pass_hat_k` is `pass_k` with each k (`pass_k_2`)."""
METRIC_GROUPS = (
    (
        "Metrics over all samples",
        "`from nel.scorers import NAME`, or `--metric NAME:key=value`; `@scorer(metrics=[...])` declares them.",
        ("accuracy", "mean", "std", "var", "stderr", "bootstrap_stderr", "ci", "grouped"),
        "nel.metrics",
    ),
    (
        "Reducers of a sample's repeats",
        REDUCERS_INTRODUCTION,
        (
            "mean_score", "median_score", "mode_score", "max_score", "at_least", "pass_at", "pass_k", "vote_at",
            "collect_score",
        ),
        "nel.metrics",
    ),
    (
        "Formulas",
        "`from nel.metrics import NAME`.",
        (
            "pass_at_k", "pass_hat_k", "bootstrap_ci", "category_breakdown", "wilson_interval", "added_question_ends",
            "value_to_float",
        ),
        "nel.metrics",
    ),
)  # fmt: skip
DECIDE_GROUPS = (
    (
        "Two runs on the same questions",
        "Position i of both arrays is the same question; `nel compare` pairs samples by their content.",
        (
            "paired_difference", "PairedDifference", "mcnemar_exact", "mcnemar_log_p", "tango_interval", "tango_z",
            "flip_test",
        ),
        "nel.decide",
    ),
    (
        "Verdicts",
        "From the ends of an interval, never from the point between them.",
        ("verdict", "verdict_within_bounds", "non_inferiority", "Verdict", "GateDecision"),
        "nel.decide",
    ),
    (
        "Several looks at the same data",
        "The family is all that was looked at, not what turned out.",
        ("holm", "benjamini_hochberg"),
        "nel.decide",
    ),
    (
        "Ranks",
        "What all pairs together say of an order ([how to rank runs](../how-to/compare-and-gate.md#rank-many-runs)).",
        ("one_sided", "rank_intervals"),
        "nel.decide",
    ),
    (
        "Repeats",
        "What one answer's variance is made of, and what one more answer buys.",
        (
            "variance_parts_of_sums",
            "marginal_gain",
            "rerun_of",
            "Rerun",
            "added_half_width",
        ),
        "nel.decide",
    ),
    (
        "Plans",
        "What `nel power` computes ([how to plan a comparison](../how-to/plan-a-comparison.md)).",
        (
            "Test", "Variances", "power_of", "mcnemar_power", "exact_power", "added_power", "questions_needed",
            "least_effect", "label_plan", "Pilot", "Resources", "plan", "power_curve", "gain_at",
        ),
        "nel.decide",
    ),
    (
        "Intervals that hold at every look",
        "For questions in random order, however often one looks; the order of a file is not random.",
        ("ConfidenceSequence",),
        "nel.decide",
    ),
)  # fmt: skip
SCORERS_INTRODUCTION = """# Scorers

A scorer is a function of one `ScorerInput`, a factory whose inner function takes `(state, target)`, or a class with a
`score` method; sync or async. `@nel.scorer` marks all three. `nel list scorers` shows what is installed, and `help(NAME)`
has types and further examples.

`f1_token` is SQuAD's F1 (multisets, full precision); `f1` and `exact` follow Inspect (sets, two decimals). `chrf` is
sacrebleu's; the older formula that gives 33.3 for two identical texts "ab" is not used. `exact_match` of `nel` drops
punctuation and articles, that of `nel.byob.scorers` drops only case and outer spaces.

Two scorers rank choices by log-likelihood. `multiple_choice_acc` keeps NeMo Evaluator's definitions: its `acc_norm`
divides by the UTF-8 bytes of the choice as it is given, leading space included. `ranked_choice` keeps those of
lm-evaluation-harness, and the built-in benchmarks use it: `acc_norm` divides by the characters of the bare choice,
`acc_bytes` by its bytes. For choices in ASCII without a delimiter the first one's `acc_norm` is the second one's
`acc_bytes`. `choice_mass` is what `truthfulqa_mc2` calls `acc`.

A wrong option is a `ConfigError` before anything is sent. A target that a rule cannot use makes a
[bad row](datasets.md#bad-rows) (`DatasetError`): an empty one, one that is not a number, an expression, a choice, a label or
a pattern where the rule needs it. Where a comparison or a search takes too long (five seconds for mathematics), numbers are
missing, a sandbox fails or a judge gives no grade, the sample is unscored (`ScorerError`, `SandboxError`, `JudgeError`), never
wrong.
"""
METRICS_INTRODUCTION = """# Metrics and reducers

A run's own metrics are the mean reward and the mean of every number its scorer returns, each with an interval and its
denominator ([numbers](../explanation/numbers.md)). What follows is computed beside them when a scorer declares it or a
flag names it; it never replaces the headline. A plugin adds its own through the entry-point groups `nel.metrics` and
`nel.reducers`.

What the scores do not define is `nel.errors.UndefinedMetric`: nothing was scored, a value has no number, fewer than two
samples or clusters where a spread is needed. Arguments out of range, scores of one sample that differ in shape, length
or keys, and a sample without its cluster or group are `ValueError`. Neither is ever a number. `help(NAME)` has types and examples.
"""
DECIDE_INTRODUCTION = """# Statistics of decisions

`from nel.decide import NAME`. Pure functions over numbers and numpy arrays: they read no file and know nothing of runs.
NaN, unequal lengths and numbers out of range are errors (`ValueError`), and what the data do not define is one too
(`nel.errors.UndefinedMetric`, a `ValueError`); neither is ever a number. `help(NAME)` has types and examples. What they are for:
[the numbers](../explanation/numbers.md#differences-between-two-runs).
"""


def scorers() -> str:
    """Return the page with every scorer."""
    return "\n".join([SCORERS_INTRODUCTION, *_groups(SCORER_GROUPS, without=ERRORS)])


def metrics() -> str:
    """Return the page with every metric, reducer and formula."""
    return "\n".join(
        [METRICS_INTRODUCTION, *_groups(METRIC_GROUPS, without=f"{ERRORS}|{EXAMPLES}")]
    )


def decide() -> str:
    """Return the page with every statistic of a decision."""
    return "\n".join([DECIDE_INTRODUCTION, *_groups(DECIDE_GROUPS, without=f"{ERRORS}|{EXAMPLES}")])


def undocumented() -> set[str]:
    """Return the installed scorers, metrics and reducers of nel that no page names."""
    shown = {
        name
        for groups in (SCORER_GROUPS, METRIC_GROUPS)
        for _, _, names, _ in groups
        for name in names
    }
    shown |= {name.removesuffix("_score") for name in shown}
    kinds = ("scorers", "metrics", "reducers")
    return {
        ref.name for kind in kinds for ref in plugins.discover(kind) if ref.distribution == "nel"
    } - shown


def _groups(
    groups: Iterable[tuple[str, str, tuple[str, ...], str]], *, without: str
) -> Iterator[str]:
    for title, introduction, names, module in groups:
        yield f"## {title}\n\n{introduction}\n"
        for name in names:
            function = getattr(__import__(module, fromlist=[name]), name)
            yield _entry(name, function, without=without)


def _entry(name: str, function: Callable[..., Any], *, without: str) -> str:
    text = _text(function, without=without)
    return f"### {name}\n\n```text\n{name}{_signature(function)}\n```\n\n{text}\n"


def _signature(function: Callable[..., Any]) -> str:
    parameters = inspect.signature(getattr(function, "source", function)).parameters.values()
    shown: list[str] = []
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not any(
            one.startswith("*") for one in shown
        ):
            shown.append("*")
        shown.append(_parameter(parameter))
    return f"({', '.join(shown)})"


def _parameter(parameter: inspect.Parameter) -> str:
    star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
    if parameter.default is parameter.empty:
        return f"{star}{parameter.name}"
    default = "value_to_float()" if callable(parameter.default) else repr(parameter.default)
    return f"{parameter.name}={default}"


def _text(function: Callable[..., Any], *, without: str) -> str:
    """Return a docstring as Markdown: its examples as code, its sections as lists.

    Left out is what `without` matches: errors, which the introduction of the page states for all.
    """
    lines: list[str] = []
    example, n_examples = False, 0
    docstring = inspect.cleandoc(function.__doc__ or "")
    docstring = re.sub(f"^(?:{without})\n*", "", docstring, flags=re.MULTILINE)
    for line in docstring.split("\n"):
        if line.startswith(">>>") and not example:
            example, n_examples = True, 0
            lines.append("```python")
        if example and not line.strip():
            example = False
            lines.append("```")
        if example:
            n_examples += line.startswith(">>>")
            if n_examples <= EXAMPLES_MAX:
                lines.append(line)
        elif re.fullmatch(r"(Args|Returns|Raises):", line):
            lines += [f"**{line.rstrip(':')}**", ""]
        elif re.match(r"    \S", line):
            lines.append(_item(line))
        elif re.match(r"        \S", line) and lines[-1].startswith(("- ", "  ")):
            lines.append("  " + line.strip().replace("``", "`"))
        else:
            lines.append(
                line.replace("``", "`").strip()
                if line.startswith("    ")
                else line.replace("``", "`")
            )
    return "\n".join([*lines, "```"] if example else lines).strip()


def _item(line: str) -> str:
    name, colon, rest = line.strip().partition(": ")
    shown = (
        f"`{name}`: {rest}"
        if colon and re.fullmatch(r"[\w ]+", name) and " " not in name
        else line.strip()
    )
    return f"- {shown}".replace("``", "`")

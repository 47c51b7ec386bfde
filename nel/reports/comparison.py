"""A comparison as lines for a terminal: verdicts, what else moved, and samples that changed.

Made from the JSON of `nel.comparison.document`. A difference of shares is given in points,
hundredths of the score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter, methodcaller
from typing import Any, Final, NamedTuple

from nel.decide.early_stop import NO_INTERVAL, STOP_RULE
from nel.reports import numbers
from nel.reports.tables.columns import Column, Figure, ReportTable, ValueKind
from nel.reports.text import as_text, one_line, visible

SHOWN_FLIPS: Final = 5
NO_FLIPS: Final[Mapping[str, Any]] = {"shown": (), "n_lost": 0, "n_won": 0}
"""Of a mean over several benchmarks."""
_SLICES_SHOWN: Final = 8
_SETTINGS_SHOWN: Final = 20
_TEXT_MAX: Final = 240


class Compared(NamedTuple):
    """A measure of a comparison under the name that a table calls it."""

    name: str
    measure: Mapping[str, Any]

    @property
    def difference(self) -> Figure:
        """Return the difference; without an interval where the samples asked were not fixed."""
        tested = self._tested or {"value": (self.measure["difference"] or {}).get("value")}
        return Figure.of(tested, self.measure["unit"])._replace(is_difference=True)

    def side(self, name: str) -> Figure:
        """Return the score of a side, with as many decimals as the difference has."""
        return self.difference._replace(value=self.measure[name], is_difference=False)

    @property
    def p_value(self) -> float | None:
        """Return the adjusted p-value, None where there is no interval."""
        return self.measure["p_adjusted"] if self._tested else None

    @property
    def _tested(self) -> Mapping[str, Any] | None:
        """Return the difference where its interval holds."""
        tested: Mapping[str, Any] | None = self.measure["difference"]
        return None if tested is None or tested["ci_method"] == NO_INTERVAL else tested


def compared_table(rows: Sequence[Compared], level: float, what: str = "benchmark") -> ReportTable:
    """Return the table of some measures.

    Args:
        rows: Benchmarks, metrics or categories.
        level: Of the intervals.
        what: The heading of their names.
    """
    columns = (
        Column("name", heading=what),
        Column("baseline", ValueKind.SCORE, methodcaller("side", "baseline")),
        Column("candidate", ValueKind.SCORE, methodcaller("side", "candidate")),
        Column("difference", ValueKind.SCORE),
        Column("ci", ValueKind.INTERVAL, attrgetter("difference"), f"{level * 100:g} % interval"),
        Column("p_value", ValueKind.P_VALUE, heading="adjusted p"),
        Column(
            "verdict",
            of=lambda row: row.measure["verdict"],
            note=lambda row: row.measure["reason"],
        ),
    )
    return ReportTable(columns, rows)


def benchmarks_table(candidate: Mapping[str, Any], level: float) -> ReportTable:
    """Return the table of a candidate: a row for each benchmark and each mean over several."""
    return compared_table([*map(compared_of, rows_of(candidate))], level)


def rows_of(candidate: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the benchmarks of a candidate, and then the means over several."""
    return [*candidate["benchmarks"], *candidate["aggregates"]]


def compared_of(row: Mapping[str, Any]) -> Compared:
    """Return a benchmark, or a mean over several, as a row of a table."""
    return Compared(str(row.get("benchmark", row.get("aggregate"))), row["headline"])


def points(value: float | None, measure: Mapping[str, Any], *, signed: bool = True) -> str:
    """Return a difference: in points where scores are rates, else as it is."""
    ends = measure["difference"] or {}
    lower, upper = ends.get("ci_lower"), ends.get("ci_upper")
    return numbers.difference(value, measure["unit"], lower=lower, upper=upper, signed=signed)


def lines(benchmark: Mapping[str, Any]) -> Iterator[str]:
    """Yield what stands below the table for one benchmark, or for one mean over several, hidden
    characters as escapes.
    """
    yield from map(visible, _lines(benchmark) if "pairs" in benchmark else _head(benchmark))


def _head(row: Mapping[str, Any]) -> Iterator[str]:
    name, measure = compared_of(row)
    reason = f" ({measure['reason']})" if measure["reason"] else ""
    yield f"{name}: {measure['verdict'].upper()}{reason}"
    pairs = row.get("pairs") or {"n": measure["n_pairs"], "n_not_asked": 0}
    yield "  " + ", ".join(_pairs_text(pairs))
    yield from (f"  {text}" for text in _evidence(measure))


def _lines(benchmark: Mapping[str, Any]) -> Iterator[str]:
    headline = benchmark["headline"]
    yield from _head(benchmark)
    yield from (f"  note: {text}" for text in [*headline["notes"], *benchmark["cautions"]])
    if benchmark["unchecked"]:
        yield f"  not recorded on both sides, so not checked: {', '.join(benchmark['unchecked'])}"
    for difference in benchmark["differs"]:
        yield f"  differs, as you allowed: {difference['field']}: {_values(difference)}"
    yield from _moved_lines(benchmark)
    yield from _slices(benchmark)
    yield from _why(benchmark)


def settings_lines(candidate: Mapping[str, Any]) -> Iterator[str]:
    """Yield the settings of the two runs that differ."""
    differing = candidate["settings_differ"]
    for difference in differing[:_SETTINGS_SHOWN]:
        yield f"  setting {difference['field']}: {_values(difference)}"
    if len(differing) > _SETTINGS_SHOWN:
        yield f"  and {len(differing) - _SETTINGS_SHOWN} more settings (--json has all)"
    for name, title in (("only_baseline", "baseline"), ("only_candidate", "candidate")):
        if candidate[name]:
            yield f"  only the {title} has: {', '.join(candidate[name])}"


def flip_lines(benchmark: Mapping[str, Any], examples_max: int = SHOWN_FLIPS) -> Iterator[str]:
    """Yield the first samples that changed, with both answers, hidden characters as escapes."""
    yield from map(visible, _flip_lines(benchmark, examples_max))


def _flip_lines(benchmark: Mapping[str, Any], examples_max: int) -> Iterator[str]:
    flips = benchmark.get("flips", NO_FLIPS)
    for flip in flips["shown"][:examples_max]:
        before, after = flip["baseline"], flip["candidate"]
        category = f" [{flip['category']}]" if flip["category"] else ""
        yield f"  {flip['sample_id']}{category}: {before['score']:g} to {after['score']:g}"
        yield f"    prompt:    {_cut(_question_text(flip['prompt']))}"
        yield f"    expected:  {_cut(as_text(flip['expected']))}"
        yield f"    baseline:  {_answer(before)}"
        yield f"    candidate: {_answer(after)}"
    hidden = flips["n_lost"] + flips["n_won"] - min(examples_max, len(flips["shown"]))
    if hidden > 0:
        yield f"  and {hidden:,} more samples that changed (--json or --html shows them)"


def _pairs_text(pairs: Mapping[str, Any]) -> list[str]:
    counts = [f"{numbers.count(pairs['n'] - pairs['n_not_asked'])} paired"]
    names = {
        "n_only_baseline": "only in the baseline",
        "n_only_candidate": "only in the candidate",
        "n_changed": "with changed content",
        "n_not_scored": "unscored on a side",
        "n_not_asked": "not asked on a side",
    }
    return counts + [
        f"{numbers.count(pairs[name])} {text}" for name, text in names.items() if pairs.get(name)
    ]


def _evidence(measure: Mapping[str, Any]) -> Iterator[str]:
    difference, bounds = measure["difference"], measure["bounds"]
    if difference is not None:
        yield from _test_lines(difference, measure)
    if bounds is not None:
        what = "the unscored" if difference else "what has no score"
        yield (
            f"had {what} been scored, the difference is between {points(bounds['lower'], measure)} and"
            f" {points(bounds['upper'], measure)}"
        )


def _test_lines(difference: Mapping[str, Any], measure: Mapping[str, Any]) -> Iterator[str]:
    counts = (
        f"won {difference['wins']:,}, lost {difference['losses']:,}, equal {difference['ties']:,}"
    )
    if difference["test"] in (STOP_RULE, NO_INTERVAL):
        yield counts
        return
    yield (
        f"{counts}; {difference['test']} p = {numbers.p_value(difference['p_value'])}, interval by"
        f" {difference['ci_method']}"
    )
    if difference["n_clusters"] is not None:
        yield f"samples in {difference['n_clusters']:,} clusters"
    yield (
        "smallest difference that this comparison would find in 4 of 5 cases: "
        f"{points(difference['smallest_detectable'], measure, signed=False)}"
        + (" points" if measure["unit"] == "rate" else "")
    )


def _moved_lines(benchmark: Mapping[str, Any]) -> Iterator[str]:
    titles = {
        "tokens": "completion tokens", "characters": "characters an answer", "latency": "seconds an answer",
        "cost": "cost of the run",
    }  # fmt: skip
    for name, title in titles.items():
        before, after = benchmark["moved"][name]["baseline"], benchmark["moved"][name]["candidate"]
        if before is not None and after is not None and before != after:
            yield f"  {title}: {numbers.plain(before)} to {numbers.plain(after)}"
    for side, title in enumerate(("baseline", "candidate")):
        variances = benchmark["repeats"][side]
        if variances is not None:
            yield (
                f"  variance of the {title}: {numbers.plain(variances['between'])} between samples,"
                f" {numbers.plain(variances['within'])} within ({numbers.plain(variances['repeats'])}"
                " repeats)"
            )


def _slices(benchmark: Mapping[str, Any]) -> Iterator[str]:
    moved = [
        measure
        for measure in benchmark["slices"]
        if measure["difference"] is not None and measure["difference"]["value"]
    ]
    moved.sort(
        key=lambda measure: (
            measure["p_adjusted"],
            -abs(measure["difference"]["value"]),
            measure["metric"],
        )
    )
    for measure in moved[:_SLICES_SHOWN]:
        difference = f"  {measure['metric']}: {points(measure['difference']['value'], measure)}"
        if measure["difference"]["test"] == NO_INTERVAL:
            yield f"{difference} of those that were asked"
        else:
            yield (
                f"{difference} ({Compared('', measure).difference.span}), p = {numbers.p_value(measure['p_adjusted'])},"
                f" {measure['verdict']}"
            )
    if len(moved) > _SLICES_SHOWN:
        yield f"  and {len(moved) - _SLICES_SHOWN} more categories that moved"
    n = sum(
        measure["p_adjusted"] is not None
        for measure in (*benchmark["slices"], *benchmark["metrics"])
    )
    if n > 1 and moved:
        yield (
            f"  p is adjusted for {n} categories and metrics together; each interval stands for its"
            " own alone"
        )


def _why(benchmark: Mapping[str, Any]) -> Iterator[str]:
    models = [", ".join(counts) or "not recorded" for counts in benchmark["models"]]
    if models[0] != models[1]:
        yield f"  the server's model: {one_line(models[0])} / {one_line(models[1])}"
    for name in sorted({*benchmark["causes"][0], *benchmark["causes"][1]}):
        before, after = (counts.get(name, 0) for counts in benchmark["causes"])
        if before != after:
            yield f"  {name}: {before:,} to {after:,}"


def _values(measure: Mapping[str, Any]) -> str:
    return _cut(
        f"{one_line(as_text(measure['baseline']))} / {one_line(as_text(measure['candidate']))}"
    )


def _question_text(prompt: object) -> str:
    """Return the text of a prompt, of messages the last one."""
    message = prompt[-1] if isinstance(prompt, list) and prompt else prompt
    return as_text(message.get("content") if isinstance(message, Mapping) else message)


def _answer(answer: Mapping[str, Any]) -> str:
    extracted = "" if answer["extracted"] is None else f"[{_cut(answer['extracted'])}] "
    answer_text = answer["response"] if answer["response"] is not None else f"({answer['outcome']})"
    return f"{extracted}{_cut(answer_text)}"


def _cut(text: str) -> str:
    line = one_line(text)
    return (
        line if len(line) <= _TEXT_MAX else f"{line[: _TEXT_MAX // 2]} … {line[-_TEXT_MAX // 2 :]}"
    )


def despite_note(parts: Sequence[str]) -> str:
    """Return a line on what was waved through, empty where nothing was."""
    return f"allowed to differ: {', '.join(parts)}" if parts else ""

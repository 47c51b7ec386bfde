"""A comparison as lines for a terminal: verdicts, what else moved, and samples that changed.

Made from the JSON of `nel.comparison.document`. A difference of shares is given in points,
hundredths of the score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter, itemgetter, methodcaller
from typing import Final, NamedTuple

from nel.decide.early_stop import NO_INTERVAL, STOP_RULE
from nel.reports import numbers
from nel.reports.tables.columns import Column, Figure, ReportTable, ValueKind
from nel.reports.text import as_text, one_line, visible
from nel.types import JsonObject

SHOWN_FLIPS: Final = 5
NO_FLIPS: Final[JsonObject] = {"shown": (), "n_lost": 0, "n_won": 0}
"""Of a mean over several benchmarks."""
_SLICES_SHOWN: Final = 8
_SETTINGS_SHOWN: Final = 20
_TEXT_MAX: Final = 240
_MOVED_TITLES: Final = {
    "tokens": "completion tokens",
    "characters": "characters an answer",
    "latency": "seconds an answer",
    "cost": "cost of the run",
}
_PAIR_COUNTS: Final = {
    "n_only_baseline": "only in the baseline",
    "n_only_candidate": "only in the candidate",
    "n_changed": "with changed content",
    "n_not_scored": "unscored on a side",
    "n_not_asked": "not asked on a side",
}
"""What the counts of pairs are, by their keys."""


class Compared(NamedTuple):
    """A measure of a comparison under the name that a table calls it."""

    name: str
    measure: JsonObject

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
    def _tested(self) -> JsonObject | None:
        """Return the difference where its interval holds."""
        tested: JsonObject | None = self.measure["difference"]
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


def benchmarks_table(candidate: JsonObject, level: float) -> ReportTable:
    """Return the table of a candidate: a row for each benchmark and each mean over several."""
    return compared_table([*map(compared_of, rows_of(candidate))], level)


def rows_of(candidate: JsonObject) -> list[JsonObject]:
    """Return the benchmarks of a candidate, and then the means over several."""
    return [*candidate["benchmarks"], *candidate["aggregates"]]


def compared_of(row: JsonObject) -> Compared:
    """Return a benchmark, or a mean over several, as a row of a table."""
    return Compared(str(row.get("benchmark", row.get("aggregate"))), row["headline"])


def points(value: float | None, measure: JsonObject, *, signed: bool = True) -> str:
    """Return a difference: in points where scores are rates, else as it is."""
    ends = measure["difference"] or {}
    lower, upper = ends.get("ci_lower"), ends.get("ci_upper")
    return numbers.difference(value, measure["unit"], lower=lower, upper=upper, signed=signed)


def lines(benchmark: JsonObject) -> Iterator[str]:
    """Yield what stands below the table for one benchmark, or for one mean over several, hidden
    characters as escapes.
    """
    yield from map(visible, _lines(benchmark) if "pairs" in benchmark else _head(benchmark))


def _head(row: JsonObject) -> Iterator[str]:
    name, measure = compared_of(row)
    line = f"{name}: {measure['verdict'].upper()}"
    yield f"{line} ({measure['reason']})" if measure["reason"] else line
    # A mean over several benchmarks has no pairs of its own.
    n = measure["n_pairs"]
    of_mean = {"n": n, "n_not_asked": 0, "n_not_scored": n - measure["n_scored"]}
    pairs = row.get("pairs", of_mean)
    yield "  " + ", ".join(_pairs_text(pairs))
    for text in _evidence(measure):
        yield f"  {text}"


def _lines(benchmark: JsonObject) -> Iterator[str]:
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


def settings_lines(candidate: JsonObject) -> Iterator[str]:
    """Yield the settings of the two runs that differ."""
    differing = candidate["settings_differ"]
    for difference in differing[:_SETTINGS_SHOWN]:
        yield f"  setting {difference['field']}: {_values(difference)}"
    if len(differing) > _SETTINGS_SHOWN:
        yield f"  and {len(differing) - _SETTINGS_SHOWN} more settings (--json has all)"
    for name, title in (("only_baseline", "baseline"), ("only_candidate", "candidate")):
        if candidate[name]:
            yield f"  only the {title} has: {', '.join(candidate[name])}"


def flip_lines(benchmark: JsonObject) -> Iterator[str]:
    """Yield the first samples that changed, with both answers, hidden characters as escapes."""
    yield from map(visible, _flip_lines(benchmark.get("flips", NO_FLIPS)))


def _flip_lines(flips: JsonObject) -> Iterator[str]:
    shown = flips["shown"][:SHOWN_FLIPS]
    for flip in shown:
        before, after = flip["baseline"], flip["candidate"]
        category = f" [{flip['category']}]" if flip["category"] else ""
        yield f"  {flip['sample_id']}{category}: {before['score']:g} to {after['score']:g}"
        yield f"    prompt:    {_cut(_question_text(flip['prompt']))}"
        if flip["expected"] is not None:
            yield f"    expected:  {_cut(as_text(flip['expected']))}"
        yield f"    baseline:  {_answer(before)}"
        yield f"    candidate: {_answer(after)}"
    n_more = flips["n_lost"] + flips["n_won"] - len(shown)
    if n_more > 0:
        yield f"  and {n_more:,} more samples that changed (--json or --html shows them)"


def _pairs_text(pairs: JsonObject) -> list[str]:
    texts = [f"{numbers.count(pairs['n'] - pairs['n_not_asked'])} paired"]
    for key, text in _PAIR_COUNTS.items():
        if pairs.get(key):
            texts.append(f"{numbers.count(pairs[key])} {text}")
    return texts


def _evidence(measure: JsonObject) -> Iterator[str]:
    difference, bounds = measure["difference"], measure["bounds"]
    if difference is not None:
        yield from _test_lines(difference, measure)
    if bounds is not None:
        what = "the unscored" if difference else "what has no score"
        yield (
            f"had {what} been scored, the difference is between {points(bounds['lower'], measure)} and"
            f" {points(bounds['upper'], measure)}"
        )


def _test_lines(difference: JsonObject, measure: JsonObject) -> Iterator[str]:
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
    smallest = points(difference["smallest_detectable"], measure, signed=False)
    if measure["unit"] == "rate":
        smallest += " points"
    yield f"smallest difference that this comparison would find in 4 of 5 cases: {smallest}"


def _moved_lines(benchmark: JsonObject) -> Iterator[str]:
    for name, title in _MOVED_TITLES.items():
        moved = benchmark["moved"][name]
        before, after = moved["baseline"], moved["candidate"]
        if before is not None and after is not None and before != after:
            yield f"  {title}: {numbers.plain(before)} to {numbers.plain(after)}"
    for side, variances in zip(("baseline", "candidate"), benchmark["repeats"], strict=True):
        if variances is not None:
            between = numbers.plain(variances["between"])
            within = numbers.plain(variances["within"])
            repeats = numbers.plain(variances["repeats"])
            yield (
                f"  variance of the {side}: {between} between samples, {within} within"
                f" ({repeats} repeats)"
            )


def _slices(benchmark: JsonObject) -> Iterator[str]:
    moved = []
    for measure in benchmark["slices"]:
        difference = measure["difference"]
        if difference is not None and difference["value"]:
            # The likeliest changes first, of equal ones the largest.
            rank = measure["p_adjusted"], -abs(difference["value"]), measure["metric"]
            moved.append((rank, measure))
    moved.sort(key=itemgetter(0))
    for _, measure in moved[:_SLICES_SHOWN]:
        line = f"  {measure['metric']}: {points(measure['difference']['value'], measure)}"
        if measure["difference"]["test"] == NO_INTERVAL:
            yield f"{line} of those that were asked"
            continue
        span = Compared("", measure).difference.span
        p_value = numbers.p_value(measure["p_adjusted"])
        yield f"{line} ({span}), p = {p_value}, {measure['verdict']}"
    if len(moved) > _SLICES_SHOWN:
        yield f"  and {len(moved) - _SLICES_SHOWN} more categories that moved"
    family = [measure["difference"] for measure in [*benchmark["slices"], *benchmark["metrics"]]]
    n_tests = sum(bool(tested) and tested["test"] != NO_INTERVAL for tested in family)
    if n_tests > 1 and moved:
        yield (
            f"  p is adjusted for {n_tests} categories and metrics together; each interval stands"
            " for its own alone"
        )


def _why(benchmark: JsonObject) -> Iterator[str]:
    models = [", ".join(counts) or "not recorded" for counts in benchmark["models"]]
    if models[0] != models[1]:
        yield f"  the server's model: {one_line(models[0])} / {one_line(models[1])}"
    baseline, candidate = benchmark["causes"]
    for cause in sorted({*baseline, *candidate}):
        before, after = baseline.get(cause, 0), candidate.get(cause, 0)
        if before != after:
            yield f"  {cause}: {before:,} to {after:,}"


def _values(difference: JsonObject) -> str:
    before = one_line(as_text(difference["baseline"]))
    after = one_line(as_text(difference["candidate"]))
    return _cut(f"{before} / {after}")


def _question_text(prompt: object) -> str:
    message = prompt
    if isinstance(prompt, list) and prompt:
        message = prompt[-1]
    if isinstance(message, Mapping):
        message = message.get("content")
    return as_text(message)


def _answer(answer: JsonObject) -> str:
    text = answer["response"]
    if text is None:
        text = f"({answer['outcome']})"
    if answer["extracted"] is None:
        return _cut(text)
    return f"[{_cut(answer['extracted'])}] {_cut(text)}"


def _cut(text: str) -> str:
    line = one_line(text)
    if len(line) <= _TEXT_MAX:
        return line
    half = _TEXT_MAX // 2
    return f"{line[:half]} … {line[-half:]}"


def despite_note(parts: Sequence[str]) -> str:
    """Return a line on what was waved through, empty where nothing was."""
    return f"allowed to differ: {', '.join(parts)}" if parts else ""

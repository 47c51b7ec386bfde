"""The categories of one answer: which functions it calls, with which arguments, or that it calls
none.

Nothing is run: BFCL's checker compares the calls with the possible ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from nel import Benchmark, Sample, Score, ScorerInput, benchmark, scorer
from nel.byob import SeedResult
from nel_bfcl.functions import offered_tools, plain_name, with_hints
from nel_bfcl.gold import possible_call
from nel_bfcl.official import check_calls, dataset_of, read_lines

_LANGUAGES: Final = {"simple_java": "java", "simple_javascript": "javascript"}
_NO_CALL: Final = "no call"
_ANY_CALL: Final = "any call"


def rows_of(category: str) -> Iterable[dict[str, Any]]:
    """Return a category's rows, each with the possible answers as its target."""
    rows = read_lines(f"BFCL_v4_{category}.json")
    if "relevance" in category:
        target = _NO_CALL if "irrelevance" in category else _ANY_CALL
        return [{**row, "target": target} for row in rows]
    answers = read_lines("possible_answer", f"BFCL_v4_{category}.json")
    possible = {answer["id"]: answer["ground_truth"] for answer in answers}
    return [{**row, "target": possible[row["id"]]} for row in rows]


def request_of(row: dict[str, Any]) -> SeedResult:
    """Return the messages of a row and the tools that it offers."""
    language = _language_of(row)
    return SeedResult(
        prompt="",
        messages=row["question"][0],
        tools=offered_tools(with_hints(row["function"], language)),
        expected_answer=row["target"],
    )


def _language_of(row: Mapping[str, Any]) -> str:
    return _LANGUAGES.get(row["id"].rpartition("_")[0], "python")


@scorer
def possible_calls(sample: ScorerInput) -> Score:
    """Compare the calls with the possible ones, as BFCL does."""
    category = str(sample.config["category"])
    unreadable = _unreadable(sample)
    if unreadable:
        return _score("ast_decoder:decoder_failed", unreadable)
    verdict = check_calls(
        [{**item, "name": plain_name(item["name"])} for item in sample.metadata["function"]],
        [{call.name: call.values} for call in sample.tool_calls],
        [{plain_name(name): values for name, values in item.items()} for item in sample.target],
        category=category,
        language=_LANGUAGES.get(category, "python"),
    )
    return _score(None if verdict["valid"] else verdict["error_type"], verdict["error"])


@scorer
def some_call(sample: ScorerInput) -> Score:
    """Credit an answer with calls, all of which can be read."""
    is_failure = not sample.tool_calls or bool(_unreadable(sample))
    return _score("relevance_error:decoder_failed" if is_failure else None, _unreadable(sample))


@scorer
def no_call(sample: ScorerInput) -> Score:
    """Credit an answer that calls nothing; a call that cannot be read is one."""
    return _score("irrelevance_error" if sample.tool_calls else None, _names(sample))


@scorer
def no_readable_call(sample: ScorerInput) -> Score:
    """Credit an answer that calls nothing, or whose calls cannot be read, as BFCL does."""
    is_failure = bool(sample.tool_calls) and not _unreadable(sample)
    return _score("irrelevance_error:decoder_success" if is_failure else None, _names(sample))


def _unreadable(sample: ScorerInput) -> str:
    """Return what is wrong with the first call that cannot be read; empty for none."""
    errors = (call.parse_error for call in sample.tool_calls)
    return next((error for error in errors if error is not None), "")


def _names(sample: ScorerInput) -> str:
    return ", ".join(call.name for call in sample.tool_calls)


def _score(error_type: str | None, explanation: object) -> Score:
    return Score(
        value=error_type is None,
        explanation=None if error_type is None else f"{error_type}: {explanation}",
        metadata={"error_type": error_type},
    )


def gold_steps(sample: Sample) -> list[dict[str, object]]:
    """Return the answer that is right: possible calls, any call, or none."""
    if sample.target == _NO_CALL:
        return [{"text": "None of these functions fits."}]
    if sample.target == _ANY_CALL:
        function: Any = sample.tools[0]["function"]
        return [{"calls": [{"name": function["name"]}]}]
    row: Any = sample.metadata
    language = _language_of(row)
    calls = (possible_call(item, row["function"], language) for item in sample.target)
    return [{"calls": [{"name": name, "arguments": arguments} for name, arguments in calls]}]


def _benchmark(category: str, rule: Any, description: str, *, suffix: str = "") -> Benchmark:
    return benchmark(
        name=f"bfcl_{category}{suffix}",
        description=f"BFCL v4: {description}",
        dataset=dataset_of(rows_of, category),
        seed_fn=request_of,
        endpoint_type="chat",
        gold_steps=gold_steps,
        extra={"category": category},
    )(rule)


simple_python = _benchmark("simple_python", possible_calls, "one function, one call")
simple_java = _benchmark("simple_java", possible_calls, "one function of Java, one call")
simple_javascript = _benchmark(
    "simple_javascript", possible_calls, "one function of JavaScript, one call"
)
multiple = _benchmark("multiple", possible_calls, "several functions, one call")
parallel = _benchmark("parallel", possible_calls, "one function, several calls")
parallel_multiple = _benchmark(
    "parallel_multiple", possible_calls, "several functions, several calls"
)
irrelevance = _benchmark("irrelevance", no_call, "no function fits, no call is right")
irrelevance_official = _benchmark(
    "irrelevance",
    no_readable_call,
    "no function fits; a malformed call is credited",
    suffix="_official",
)
live_simple = _benchmark("live_simple", possible_calls, "users' functions, one call")
live_multiple = _benchmark("live_multiple", possible_calls, "several users' functions, one call")
live_parallel = _benchmark("live_parallel", possible_calls, "users' functions, several calls")
live_parallel_multiple = _benchmark(
    "live_parallel_multiple", possible_calls, "several users' functions, several calls"
)
live_relevance = _benchmark("live_relevance", some_call, "users' functions, any call is right")
live_irrelevance = _benchmark("live_irrelevance", no_call, "users' functions, none of which fits")
live_irrelevance_official = _benchmark(
    "live_irrelevance",
    no_readable_call,
    "users' functions, none of which fits; a malformed call is credited",
    suffix="_official",
)

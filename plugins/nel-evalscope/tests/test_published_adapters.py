"""Adapters of the published EvalScope, unedited, on local rows: prompts and scores equal EvalScope's own.

Each is read as a file, where EvalScope cannot be imported, and run through the bridge; the replies are the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest
from comparison import HERE, compared, evaluate, program
from published_rows import PUBLISHED, REPLIES, Published, write_data

from nel.compat.evalscope.choices import MultipleChoiceTemplate

pytestmark = pytest.mark.slow
TWO_BOXES: Final = "\\boxed{7} or \\boxed{12}"
_MATHEMATICS: Final = (
    "agieval", "aime24", "cmath", "competition_math", "gsm8k", "gsm8k_indic", "gsm8k_v", "hmmt26", "math_500",
    "math_vista", "mgsm",
)  # fmt: skip
READ_OTHERWISE: Final = {name: {TWO_BOXES} for name in _MATHEMATICS}
"""Replies whose verdict differs, as docs/reference/differences.md says: the last of several boxes, or all of them."""
OWN_AGGREGATES: Final = (
    "coin_flip",
    "drivel_binary",
    "drivel_multilabel",
    "pubmedqa",
    "hallusion_bench",
    "ifeval",
)
NAMED_ENTITIES: Final = ("bc2gm", "bc4chemd", "cross_ner", "fin_ner", "genia_ner")
OTHER_MEANS: Final = (*OWN_AGGREGATES, *NAMED_ENTITIES, "tat_qa", "vlms_are_biased", "vtcbench")
"""Those whose report has other numbers than the mean of the first metric."""
NUMBERED: Final = list(enumerate(PUBLISHED))
IDS: Final = [f"{number}-{one.name}" for number, one in NUMBERED]


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Return each adapter's name and arguments, its rows written as files."""
    pytest.importorskip("evalscope", reason="evalscope is not installed: pip install evalscope")
    folder = tmp_path_factory.mktemp("data")
    return [
        {
            "name": one.name,
            "arguments": {**one.arguments, "local_path": write_data(folder / str(number), one)},
        }
        for number, one in enumerate(PUBLISHED)
    ]


@pytest.fixture(scope="module")
def theirs(
    cases: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> list[dict[str, Any]]:
    """Return what EvalScope itself asks and scores, case by case."""
    told = program(
        "evalscope_itself.py",
        {"cases": cases, "replies": REPLIES},
        tmp_path_factory.mktemp("theirs"),
    )
    assert [one["error"] for one in told if "error" in one] == []
    return list(told)


@pytest.fixture(scope="module")
def of_files(cases: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return the results of nel on the adapters' files, without EvalScope."""
    home = Path(pytest.importorskip("evalscope").__file__).parent / "benchmarks"
    benchmarks = [
        {"name": f"{home / one.file}:{one.name}", "args": case["arguments"]}
        for one, case in zip(PUBLISHED, cases, strict=True)
    ]
    return evaluate(benchmarks, REPLIES, tmp_path_factory.mktemp("files"), with_evalscope=False)


@pytest.fixture(scope="module")
def of_bridge(cases: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return the results of nel through EvalScope's own adapters."""
    return evaluate(
        [{"name": address(case)} for case in cases],
        REPLIES,
        tmp_path_factory.mktemp("bridge"),
        with_evalscope=True,
    )


def address(case: Mapping[str, Any]) -> str:
    """Return a case's address for the bridge."""
    pairs = (
        f"{key}={quote(value if isinstance(value, str) else json.dumps(value))}"
        for key, value in case["arguments"].items()
    )
    return f"evalscope://{case['name']}?{'&'.join(pairs)}"


@pytest.mark.parametrize(("number", "one"), NUMBERED, ids=IDS)
def test_a_file_asks_and_scores_as_evalscope_does(
    of_files: list[Path], theirs: list[dict[str, Any]], number: int, one: Published
) -> None:
    """Without EvalScope: the same messages, few-shot examples and pictures among them, and the same verdicts."""
    prompts, replies = compared(of_files[number], theirs[number], REPLIES)
    assert not prompts
    assert replies == READ_OTHERWISE.get(one.name, set())


@pytest.mark.parametrize(("number", "one"), NUMBERED, ids=IDS)
def test_the_bridge_asks_and_scores_as_evalscope_does(
    of_bridge: list[Path], theirs: list[dict[str, Any]], number: int, one: Published
) -> None:
    """With EvalScope's own adapters, whose prompts and verdicts are its own."""
    assert compared(of_bridge[number], theirs[number], REPLIES) == (set(), set())


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, id=f"{number}-{one.name}")
        for number, one in NUMBERED
        if one.name not in OTHER_MEANS and one.name not in READ_OTHERWISE
    ],
)
def test_subsets_have_the_means_of_evalscope(
    of_files: list[Path], theirs: list[dict[str, Any]], number: int
) -> None:
    """The first number of each subset that has samples, where the benchmark takes the mean."""
    metrics = json.loads((of_files[number] / "metrics.json").read_text("utf-8"))
    own = {name: found["value"] for name, found in metrics["categories"].items()}
    other = {
        name: found[0]["value"] for name, found in theirs[number]["aggregates"].items() if found
    }
    assert own == pytest.approx(other)


@pytest.mark.parametrize("door", ["of_files", "of_bridge"])
@pytest.mark.parametrize("name", [*OWN_AGGREGATES, *NAMED_ENTITIES])
def test_rules_over_all_answers_give_what_they_give_evalscope(
    request: pytest.FixtureRequest, theirs: list[dict[str, Any]], door: str, name: str
) -> None:
    """F1, precision and the like over all answers: each number of EvalScope's is there, and no other."""
    ((number, _),) = [(place, one) for place, one in NUMBERED if one.name == name]
    folder = request.getfixturevalue(door)[number]
    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))["metrics"]
    own = sorted(row["value"] for row in metrics if row["name"].startswith("aggregated/"))
    (other,) = theirs[number]["aggregates"].values()
    assert own == pytest.approx(sorted(one["value"] for one in other))


def test_templates_are_those_of_evalscope() -> None:
    """Each template of multiple choice, also those that no adapter above asks with."""
    theirs = pytest.importorskip("evalscope.utils.multi_choices").MultipleChoiceTemplate
    names = [name for name in vars(theirs) if name.isupper()]
    assert {name: getattr(MultipleChoiceTemplate, name) for name in names} == {
        name: getattr(theirs, name) for name in names
    }


def test_what_is_read_otherwise_is_on_the_page() -> None:
    """Each reply whose verdict differs is a row of the page of differences."""
    page = (HERE.parents[2] / "docs/reference/differences.md").read_text("utf-8")
    replies = {reply for own in READ_OTHERWISE.values() for reply in own}
    assert [reply for reply in replies if f"| `{reply}`" not in page] == []


def test_enough_adapters_are_compared() -> None:
    """At least 40 of those that are published."""
    assert len({one.name for one in PUBLISHED}) >= 60

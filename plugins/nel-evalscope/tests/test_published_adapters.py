"""Adapters of the published EvalScope, unedited, on local rows: prompts and scores equal EvalScope's own.

Each is read as a file, where EvalScope cannot be imported, and run through the bridge; the replies are the same.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest
from published_rows import PUBLISHED, REPLIES, Published, write_data

from nel.compat.evalscope.choices import MultipleChoiceTemplate

sys.path.insert(0, str(Path(__file__).parents[3]))
from tests.support.endpoint import Call, Reply, answer, scripted

pytestmark = pytest.mark.slow
HERE: Final = Path(__file__).parent
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
)
NAMED_ENTITIES: Final = ("bc2gm", "bc4chemd", "cross_ner", "fin_ner", "genia_ner")
OTHER_MEANS: Final = (*OWN_AGGREGATES, *NAMED_ENTITIES, "tat_qa", "vlms_are_biased", "vtcbench")
"""Those whose report has other numbers than the mean of the first metric."""
NUMBERED: Final = list(enumerate(PUBLISHED))
IDS: Final = [f"{number}-{one.name}" for number, one in NUMBERED]


def program(name: str, given: Mapping[str, Any], folder: Path) -> Any:
    """Return what a program of this folder says as JSON, with all caches in a folder of the test."""
    environment = {
        **os.environ,
        "HF_HOME": str(folder / "hf"),
        "EVALSCOPE_CACHE": str(folder / "evalscope"),
    }
    done = subprocess.run(
        [sys.executable, str(HERE / name)],
        input=json.dumps(given), env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=1500,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


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


def run(benchmarks: list[dict[str, Any]], folder: Path, *, with_evalscope: bool) -> list[Path]:
    """Run benchmarks in one run; return the directory of each."""
    seen: Counter[str] = Counter()

    def says(call: Call, _: int) -> Reply:
        asked = json.dumps(call.body["messages"], sort_keys=True)
        seen[asked] += 1
        return answer(REPLIES[(seen[asked] - 1) % len(REPLIES)])

    with scripted(says, models=["m"]) as endpoint:
        settings = {
            "endpoint": {"url": endpoint.url, "model": "m"},
            "benchmarks": [{**one, "repeats": len(REPLIES)} for one in benchmarks],
            "output": {"dir": str(folder / "out")},
        }
        given = {"settings": settings, "with_evalscope": with_evalscope}
        done = program("nel_itself.py", given, folder)
    assert done["exit_code"] == 0
    return [Path(path) for path in done["directories"]]


@pytest.fixture(scope="module")
def of_files(cases: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return the results of nel on the adapters' files, without EvalScope."""
    home = Path(pytest.importorskip("evalscope").__file__).parent / "benchmarks"
    benchmarks = [
        {"name": f"{home / one.file}:{one.name}", "args": case["arguments"]}
        for one, case in zip(PUBLISHED, cases, strict=True)
    ]
    return run(benchmarks, tmp_path_factory.mktemp("files"), with_evalscope=False)


@pytest.fixture(scope="module")
def of_bridge(cases: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return the results of nel through EvalScope's own adapters."""
    return run(
        [{"name": address(case)} for case in cases],
        tmp_path_factory.mktemp("bridge"),
        with_evalscope=True,
    )


def address(case: Mapping[str, Any]) -> str:
    """Return a case's address for the bridge."""
    given = dict(case["arguments"]) | ({"aggregate": "mean"} if case["name"] in OTHER_MEANS else {})
    pairs = (
        f"{key}={quote(value if isinstance(value, str) else json.dumps(value))}"
        for key, value in given.items()
    )
    return f"evalscope://{case['name']}?{'&'.join(pairs)}"


def asked(prompt: Any) -> str:
    """Return messages as text that can be compared; how closely a picture is looked at is the endpoint's default."""
    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    parts = [
        part for one in messages if isinstance(one["content"], list) for part in one["content"]
    ]
    for part in parts:
        if part["type"] == "image_url":
            part["image_url"].pop("detail", None)
    return json.dumps(messages, sort_keys=True)


def verdicts(found: Iterable[tuple[str, str, float | None]]) -> dict[tuple[str, str], list[str]]:
    """Return the scores of each prompt and reply."""
    kept: dict[tuple[str, str], list[str]] = defaultdict(list)
    for prompt, reply, score in found:
        kept[prompt, reply].append(str(score))
    return {key: sorted(values) for key, values in kept.items()}


def compared(folder: Path, told: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    """Return the prompts that only one of both has, and the replies whose score differs."""
    lines = (folder / "results.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    own = verdicts(
        (asked(row["prompt"]), row["model_response"] or "", row["reward"]) for row in rows
    )
    other = verdicts(
        (asked(sample["messages"]), reply, score["main"])
        for sample in told["samples"]
        for reply, score in zip(REPLIES, sample["scores"], strict=True)
    )
    prompts = {prompt for prompt, _ in own} ^ {prompt for prompt, _ in other}
    return prompts, {key[1] for key in own.keys() & other.keys() if own[key] != other[key]}


@pytest.mark.parametrize(("number", "one"), NUMBERED, ids=IDS)
def test_a_file_asks_and_scores_as_evalscope_does(
    of_files: list[Path], theirs: list[dict[str, Any]], number: int, one: Published
) -> None:
    """Without EvalScope: the same messages, few-shot examples and pictures among them, and the same verdicts."""
    prompts, replies = compared(of_files[number], theirs[number])
    assert not prompts
    assert replies == READ_OTHERWISE.get(one.name, set())


@pytest.mark.parametrize(("number", "one"), NUMBERED, ids=IDS)
def test_the_bridge_asks_and_scores_as_evalscope_does(
    of_bridge: list[Path], theirs: list[dict[str, Any]], number: int, one: Published
) -> None:
    """With EvalScope's own adapters, whose prompts and verdicts are its own."""
    assert compared(of_bridge[number], theirs[number]) == (set(), set())


@pytest.mark.parametrize(("number", "one"), NUMBERED, ids=IDS)
def test_subsets_have_the_means_of_evalscope(
    of_files: list[Path], theirs: list[dict[str, Any]], number: int, one: Published
) -> None:
    """The first number of each subset that has samples, where the benchmark takes the mean."""
    if one.name in OTHER_MEANS or one.name in READ_OTHERWISE:
        pytest.skip("a rule of its own, or a reply that is read otherwise")
    metrics = json.loads((of_files[number] / "metrics.json").read_text("utf-8"))
    own = {name: found["value"] for name, found in metrics["categories"].items()}
    other = {
        name: found[0]["value"] for name, found in theirs[number]["aggregates"].items() if found
    }
    assert own == pytest.approx(other)


@pytest.mark.parametrize("name", OWN_AGGREGATES)
def test_rules_over_all_answers_give_what_they_give_evalscope(
    of_files: list[Path], theirs: list[dict[str, Any]], name: str
) -> None:
    """F1, precision and the like over all answers: each number of EvalScope's is there, and no other."""
    ((number, _),) = [(place, one) for place, one in NUMBERED if one.name == name]
    metrics = json.loads((of_files[number] / "metrics.json").read_text("utf-8"))["metrics"]
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

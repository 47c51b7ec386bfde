"""A suite: one command asks its benchmarks, and one table has its sub-scores and its whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from nel.authoring.registry import find_benchmark, find_members
from nel.authoring.suites import group_of
from nel.benchmarks.knowledge.mmlu.subject_groups import MMLU
from nel.errors import ConfigError, PluginError
from tests.support.endpoint import Endpoint, answer, scripted
from tests.support.runs import nel

BENCHMARK = """
from nel import benchmark, scorer

ROWS = [
    {{"id": str(n), "question": str(n), "target": "2" if n < {right} else "3", "subject": "ab"[n % 2]}}
    for n in range({n})
]

@benchmark(name="{name}", dataset=lambda: ROWS, prompt="{{question}}", category_field="subject")
@scorer
def {name}(sample):
    return sample.response == sample.target
"""
SUITE = """
suite: mine
members:
  - name: words
    weight: 1
    weigh: by_size
    members: [./few.py, ./many.py]
  - {name: "./few.py#a", weight: 2}
  - {name: web, weight: 1, missing: it needs a network}
"""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """Serve a model that always answers 2."""
    with scripted(lambda call, number: answer("2"), models=["m"]) as served:
        yield served


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write two benchmarks, 1 of 4 and 3 of 8 of whose answers are right, and a suite of them."""
    monkeypatch.chdir(tmp_path)
    for name, right, n in (("few", 1, 4), ("many", 3, 8)):
        (tmp_path / f"{name}.py").write_text(BENCHMARK.format(name=name, right=right, n=n))
    (tmp_path / "mine.yaml").write_text(SUITE)
    return tmp_path


def test_a_suite_has_sub_scores_and_a_whole_in_which_what_is_missing_counts_from_0_to_1(
    folder: Path, endpoint: Endpoint
) -> None:
    """4 of 12 by size, half of the category, and nothing of what needs a network."""
    command = ["eval", "run", "--bench", "mine.yaml", "--model-url", endpoint.url, "--model-id", "m", "-o", "out"]
    run = nel(*command, cwd=folder)
    assert run.returncode == 0, run.stderr
    (path,) = folder.glob("out/*/aggregates.json")
    whole, words = json.loads(path.read_text())["aggregates"]
    assert (words["aggregate"], words["value"], words["is_part"]) == ("mine/words", pytest.approx(4 / 12), True)
    assert (whole["aggregate"], whole["value"], whole["is_part"]) == ("mine", None, False)
    lower = (4 / 12 + 2 * 1 / 2) / 4
    assert whole["bounds"] == pytest.approx({"lower": lower, "upper": lower + 1 / 4})
    assert whole["ci_lower"] < lower < lower + 1 / 4 < whole["ci_upper"]
    assert whole["weights"] == pytest.approx({"few": 1 / 12, "many": 2 / 12, "few#a": 1 / 2, "web": 1 / 4})
    assert whole["missing"] == {"web": "it needs a network"}
    assert "mine, accuracy: without web: it needs a network" in run.stdout
    assert len(endpoint.calls) == 12  # each benchmark is asked once


def test_a_category_that_is_not_there_is_named_before_anything_is_sent(folder: Path, endpoint: Endpoint) -> None:
    """With those that are; where only some questions are asked, as a note, and the others go on."""
    (folder / "mine.yaml").write_text(SUITE.replace("few.py#a", "few.py#c"))
    command = ["eval", "run", "--bench", "mine.yaml", "--model-url", endpoint.url, "--model-id", "m", "-o", "out"]
    run = nel(*command, cwd=folder)
    assert run.returncode == 2
    assert 'a mean is of ./few.py#c, and few has no category "c"; there are a, b' in run.stderr
    assert not endpoint.calls
    (folder / "mine.yaml").write_text(SUITE.replace("few.py#a", "few.py#b"))
    run = nel(*command, "--max-problems", "1", cwd=folder)
    assert run.returncode == 0
    assert 'few, as far as it is asked, has no category "b"; there are a' in run.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("members: [gsm8k, gsm8k]", "gsm8k is a member twice"),
        ("members: [gsm8k, {name: aime24, weight: 2}]", "gsm8k has no weight, and others have one"),
        ("weigh: by_size\nmembers: [gsm8k, {name: web, missing: none}]", "web has no size, since it is missing"),
        ("members: [{name: web, missing: none}]", "all members of the suite are missing"),
        ("members: [gsm8k]\nweight: 2", "weight"),
    ],
)
def test_a_suite_that_cannot_be_weighed_says_why(tmp_path: Path, text: str, message: str) -> None:
    """Before anything is asked, with the name of its file."""
    path = tmp_path / "broken.yaml"
    path.write_text(f"suite: broken\n{text}\n")
    with pytest.raises(ConfigError, match=f"broken.yaml.*{message}"):
        find_members(str(path))


def test_a_suite_is_found_by_its_name_alone() -> None:
    """It is several benchmarks, and a name that is nearly one is told which."""
    group = find_members("suite:mmlu-subjects")
    assert group is not None
    assert group.members == ("mmlu",)
    assert [mean["name"] for mean in group.aggregates][:2] == ["mmlu-subjects", "mmlu-subjects/stem"]
    with pytest.raises(PluginError, match="did you mean"):
        find_members("suite:mmlu-subject")
    with pytest.raises(PluginError, match="is a suite of several benchmarks"):
        find_benchmark("suite:mmlu-subjects")


def test_a_suite_is_not_a_member_of_a_suite(folder: Path) -> None:
    """Neither another one nor itself; its members can be a sub-score."""
    with pytest.raises(PluginError, match=r"mine.yaml is a suite.*as a sub-score of the other suite"):
        find_benchmark("mine.yaml")


def test_every_subject_of_mmlu_is_in_one_group() -> None:
    """The 57 subjects of the authors, 18, 13, 12 and 14 in a group."""
    means = group_of(MMLU, "suite:mmlu-subjects").aggregates[1:]
    sizes = [len(list(mean["benchmarks"])) for mean in means]  # type: ignore[call-overload]
    assert sizes == [18, 13, 12, 14]

"""The benchmarks ranked by log-likelihood ask and count as lm-evaluation-harness does; its own samples are the fixture.

`scripts/lm_eval_parity.py --capture` writes the fixture: the harness' requests, sums and metrics on the rows beside it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nel import evaluate
from nel.authoring.benchmark import Benchmark
from nel.authoring.registry import find_benchmark
from nel.benchmarks.knowledge.truthfulqa import multiple_choice as truthfulqa
from nel.datasets.hub_address import parse_uri
from nel.errors import ConfigError, DatasetError, ScorerError
from nel.models.echo_probe import PROBES
from nel.scoring.choice import multiple_choice_acc
from nel.scoring.loglikelihood import choice_mass, ranked_choice
from nel.types import ScorerInput
from tests.support.endpoint import Call, scripted
from tests.support.letters import letters
from tests.support.lm_eval import TASKS, nel_config, prompts_of, read_samples, write_rows

HERE = Path(__file__).parent
ROWS = json.loads((HERE / "lm_eval_rows.json").read_text(encoding="utf-8"))
HARNESS = json.loads((HERE / "lm_eval_fixture.json").read_text(encoding="utf-8"))
RANKED = (
    "arc_easy", "arc_challenge", "boolq", "hellaswag", "mmlu", "piqa", "truthfulqa_mc1", "truthfulqa_mc2", "winogrande",
)  # fmt: skip


def _run(tmp_path: Path, name: str) -> tuple[list[Call], list[dict[str, Any]]]:
    write_rows(tmp_path, name, ROWS[name])
    with scripted(letters, models=["letters"]) as endpoint:
        result = evaluate(nel_config(tmp_path, name, url=endpoint.url, model="letters"))
        assert result.exit_code == 0
        return endpoint.calls, read_samples(result.run_dir)


@pytest.mark.parametrize("name", [name for name in TASKS if name != "gsm8k"])
def test_prompts_sums_and_metrics_are_those_of_the_harness(tmp_path: Path, name: str) -> None:
    """The same rows and examples before the same model: the same texts are sent, and each sample's metrics agree."""
    calls, samples = _run(tmp_path, name)
    probes = {probe.context + probe.continuation for probe in PROBES}
    sent = Counter(text for call in calls for text in prompts_of(call) if text not in probes)
    assert sent == Counter("".join(pair) for one in HARNESS[name] for pair in one["pairs"])
    assert len(samples) == len(HARNESS[name]) > 0
    for line, known in zip(samples, HARNESS[name], strict=True):
        metrics = line["scoring_details"]["metrics"]
        assert {metric: metrics[metric] for metric in known["metrics"]} == pytest.approx(known["metrics"], abs=1e-9)
        assert line["sums"] == pytest.approx(known["sums"], abs=1e-9)


def test_chats_with_examples_are_those_of_the_harness(tmp_path: Path) -> None:
    """GSM8K at a chat endpoint: the same turns, and both filters give the same verdict on each sample."""
    calls, samples = _run(tmp_path, "gsm8k")
    sent = [json.dumps(call.body["messages"], sort_keys=True) for call in calls if "messages" in call.body]
    assert Counter(sent) == Counter(json.dumps(one["messages"], sort_keys=True) for one in HARNESS["gsm8k"])
    found = [line["scoring_details"]["metrics"] for line in samples]
    assert found == [one["metrics"] for one in HARNESS["gsm8k"]]
    assert {metrics["strict-match"] for metrics in found} == {0.0, 1.0}


@pytest.mark.parametrize("name", RANKED)
def test_each_benchmark_says_where_it_comes_from(name: str) -> None:
    """Dataset and revision are pinned to one commit, and the official metric is the reward."""
    benchmark = find_benchmark(name)
    card = benchmark.card
    assert card is not None
    assert all((card.paper, card.licence, card.citation, card.homepage, card.languages))
    address = parse_uri(str(benchmark.dataset))
    assert address.revision == card.revision
    assert len(card.revision) == 40
    assert (benchmark.loglikelihood, benchmark.target_delimiter, benchmark.num_fewshot) == (True, " ", 0)
    assert _first_metric(benchmark) == card.metric


def _first_metric(benchmark: Benchmark) -> str:
    metadata = {"_choices": ["a", "b"], "_choices_logprobs": [-1.0, -2.0], "_choices_is_greedy": [True, False]}
    target = [0] if benchmark.name == "truthfulqa_mc2" else 0
    result: Any = benchmark.scorer(ScorerInput(response="a", target=target, metadata=metadata))
    return str(next(iter(result)))


def _ranked(choices: list[str], sums: list[float], target: Any, **options: Any) -> dict[str, Any]:
    metadata = {"_choices": choices, "_choices_logprobs": sums}
    return ranked_choice(ScorerInput(response="", target=target, metadata=metadata), **options)


def test_the_three_accuracies_divide_by_different_lengths() -> None:
    """Six characters of two bytes each: by bytes they win, by characters the ASCII choice does; the sum has a third."""
    choices, sums = ["é" * 6, "a" * 8, "z"], [-9.0, -8.5, -1.2]
    found = {name: _ranked(choices, sums, gold)[name] for gold, name in ((2, "acc"), (1, "acc_norm"), (0, "acc_bytes"))}
    assert found == {"acc": 1.0, "acc_norm": 1.0, "acc_bytes": 1.0}


def test_the_seeds_definition_is_kept_apart() -> None:
    """`multiple_choice_acc` divides by the bytes of the choice with its leading space: another choice wins."""
    sums = [-2.0, -2.9]
    bare = {"_choices": ["A", "BB"], "_choices_logprobs": [-2.0, -3.9]}
    spaced = {"_choices": [" A", " BB"], "_choices_logprobs": [-2.0, -3.9], "_choices_is_greedy": [False, False]}
    ours: Any = ranked_choice(ScorerInput(response="", target=1, metadata=bare))
    seeds: Any = multiple_choice_acc(ScorerInput(response="", target=1, metadata=spaced))
    assert (ours["acc_norm"], seeds["acc_norm"]) == (1.0, 0.0)
    assert _ranked(["A", "BB"], sums, 1)["acc_norm"] == 1.0


@pytest.mark.parametrize(
    ("choices", "sums", "target", "expected"),
    [
        (["a", "b"], [-1.0, -1.0], 0, (1.0, 1.0)),
        (["a", "b"], [-1.0, -1.0], 1, (0.0, 0.0)),
        (["", "b"], [-0.5, -1.0], 1, (0.0, 1.0)),
        (["a", "b"], [-1.0, float("-inf")], 0, (1.0, 1.0)),
    ],
    ids=["a tie goes to the first", "and never to the second", "an empty choice has no length", "an impossible one"],
)
def test_ties_and_empty_choices(
    choices: list[str], sums: list[float], target: int, expected: tuple[float, float]
) -> None:
    """The first of equal values wins, as numpy's argmax has it."""
    found = _ranked(choices, sums, target)
    assert (found["acc"], found["acc_norm"]) == expected


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: _ranked(["a"], [-1.0], 4), DatasetError, "gold index 4"),
        (lambda: _ranked(["a"], [-1.0], 0, headline="acc_mutual_info"), ConfigError, "is unknown; use acc, acc_norm"),
        (lambda: ranked_choice(ScorerInput(response="", target=0)), ScorerError, "completions_logprob"),
        (lambda: _mass([-1.0, -2.0], []), DatasetError, "not among 2"),
        (lambda: _mass([-1.0, -2.0], [2]), DatasetError, "not among 2"),
    ],
)
def test_what_cannot_be_ranked_is_an_error(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    """A gold out of range is a fault of the row and never a wrong answer."""
    with pytest.raises(error, match=message):
        call()


def _mass(sums: list[float], right: list[int]) -> float:
    metadata = {"_choices": ["c"] * len(sums), "_choices_logprobs": sums}
    return float(choice_mass(ScorerInput(response="", target=right, metadata=metadata), right)["acc"])


def test_rows_that_lack_what_they_need_are_refused() -> None:
    """A question without a true choice, and one with more labels than choices, are bad rows."""
    for labels, message in (([0], "none of its choices is labelled 1, true"), ([1, 0], "2 labels for 1 choices")):
        with pytest.raises(DatasetError, match=message):
            truthfulqa.truthfulqa_mc2.prepared_fields(
                {"question": "?", "mc2_targets": {"choices": ["a"], "labels": labels}}
            )
    with pytest.raises(DatasetError, match="substring not found"):
        find_benchmark("winogrande").prepared_fields(
            {"sentence": "no blank", "option1": "a", "option2": "b", "answer": "1"}
        )

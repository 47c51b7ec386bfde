"""What an adapter written for EvalScope is given on its way: ids, examples, messages, objects and imports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nel import evaluate
from nel.authoring.registry import find_benchmark
from nel.errors import DatasetError, PluginError
from tests.support.endpoint import Endpoint, answer, scripted
from tests.support.runs import read_results, run_config, write_jsonl

HEAD = """
from evalscope.api.benchmark import BenchmarkMeta, DefaultDataAdapter, MultiChoiceAdapter
from evalscope.api.dataset import Sample
from evalscope.api.metric import Score
from evalscope.api.registry import register_benchmark
"""
OWN = """
@register_benchmark(BenchmarkMeta(name="own", metric_list=["acc"], prompt_template="{{question}}", **{meta}))
class Own(DefaultDataAdapter):
    def __init__(self, **options):
        super().__init__(**options)
        self.reformat_subset = {reformats}

    def record_to_sample(self, record):
        made = [Sample(input=record["q"] + more, target="yes", subset_key=record.get("key")) for more in {parts}]
        return made if len(made) > 1 else made[0]
"""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """Serve a model that says yes."""
    with scripted(lambda *_: answer("yes"), models=["m"]) as served:
        yield served


def run(folder: Path, endpoint: Endpoint, text: str) -> list[dict[str, Any]]:
    """Return the result lines of a file with one adapter, called own."""
    (folder / "own.py").write_text(HEAD + text, encoding="utf-8")
    result = evaluate(run_config(endpoint.url, [str(folder / "own.py")], folder / "out"))
    assert result.exit_code == 0
    return read_results(result.run_dir, "own")


def own(*, reformats: bool = False, parts: tuple[str, ...] = ("",), **meta: Any) -> str:
    return OWN.format(meta=meta, reformats=reformats, parts=parts)


def ids_of(rows: list[dict[str, Any]]) -> list[str]:
    """Return the ids of the samples of result lines."""
    return sorted(row["sample_id"] for row in rows)


def test_an_id_names_each_of_several_samples_of_a_row(tmp_path: Path, endpoint: Endpoint) -> None:
    """By their places in what the adapter makes of it."""
    write_jsonl(tmp_path / "rows.jsonl", [{"id": "r1", "q": "So"}, {"id": "r2", "q": "Then"}])
    rows = run(tmp_path, endpoint, own(parts=("?", "!"), dataset_id="rows.jsonl"))
    assert ids_of(rows) == ["default/r1/0", "default/r1/1", "default/r2/0", "default/r2/1"]


def test_an_id_that_comes_again_in_its_subset_is_refused(tmp_path: Path, endpoint: Endpoint) -> None:
    """It would name two samples."""
    for subset in "ab":
        write_jsonl(tmp_path / f"{subset}.jsonl", [{"id": 1, "q": f"{subset}{n}?"} for n in (1, 2)])
    with pytest.raises(DatasetError, match='have the same id "a/1"'):
        run(tmp_path, endpoint, own(dataset_id=str(tmp_path), subset_list=["a", "b"]))


HOOKS = """
@register_benchmark(BenchmarkMeta(name="own", dataset_id="rows.jsonl", prompt_template="{{question}}", {meta}))
class Own({base}):
    def record_to_sample(self, record):
        return Sample(input={input}, choices=["red", "blue"], target="yes", metadata={{}})

    def _on_inference_start(self, model, sample):
        sample.metadata["seen"] = " ".join(type(one).__name__ + "=" + one.role for one in sample.input)

    def match_score(self, original_prediction, filtered_prediction, reference, task_state):
        task_state.metadata["input"] = task_state.input_text
        return Score(value={{"acc": 1.0}}, metadata=dict(task_state.metadata))
"""


@pytest.mark.parametrize(
    ("base", "meta", "asked", "seen"),
    [
        ("MultiChoiceAdapter", "", "record['q']", "ChatMessageUser=user"),
        ("DefaultDataAdapter", "system_prompt='Be brief.'", "[ChatMessageUser(content=record['q'])]",
         "ChatMessage=system ChatMessage=user"),
    ],
)  # fmt: skip
def test_hooks_of_an_inference_are_given_messages(
    tmp_path: Path, endpoint: Endpoint, base: str, meta: str, asked: str, seen: str
) -> None:
    """As EvalScope gives them, also where a sample is a text."""
    write_jsonl(tmp_path / "rows.jsonl", [{"q": "So?"}])
    text = "from evalscope.api.messages import ChatMessageUser\n" + HOOKS.format(base=base, meta=meta, input=asked)
    (row,) = run(tmp_path, endpoint, text)
    assert row["scoring_details"]["seen"] == seen
    assert "So?" in row["scoring_details"]["input"]


FILTERED = """
@register_benchmark(BenchmarkMeta(
    name="own", dataset_id=".", metric_list=["acc"], few_shot_num=2, train_split="train", {meta}
    prompt_template="{{question}}", few_shot_prompt_template="{{fewshot}}|{{question}}"))
class Own(DefaultDataAdapter):
    def __init__(self, **options):
        super().__init__(**options)
        self.reformat_subset = {reformats}

    def record_to_sample(self, record):
        return Sample(input=record["q"], target="yes", subset_key=record["key"])

    def sample_filter(self, sample):
        return "bad" not in sample.input

    def sample_to_fewshot(self, sample):
        return sample.input
{more}
"""
OWN_LOAD = """
    def load_subset(self, subset, data_loader):
        return super().load_subset(subset, data_loader)
"""


@pytest.mark.parametrize(
    ("meta", "reformats", "more"),
    [
        ("", False, ""),
        ("subset_list=['a', 'b'], default_subset='all',", True, ""),
        ("subset_list=['a', 'b'],", True, OWN_LOAD),
    ],
)
def test_an_example_passes_the_filter_of_samples(
    tmp_path: Path, endpoint: Endpoint, meta: str, reformats: bool, more: str
) -> None:
    """A row that is not a sample is no example either, and does not count as one."""
    train = [{"q": f"{key}{word}{n}", "key": key} for word in ("bad", "good") for n in (1, 2) for key in "ab"]
    for subset in ("default", "all"):
        write_jsonl(tmp_path / f"{subset}_test.jsonl", [{"q": "a?", "key": "a"}, {"q": "b?", "key": "b"}])
        write_jsonl(tmp_path / f"{subset}_train.jsonl", train)
    run(tmp_path, endpoint, FILTERED.format(meta=meta, reformats=reformats, more=more))
    texts = [call.text for call in endpoint.of_samples]
    assert len(texts) == 2
    assert all("bad" not in text and text.count("good") == 2 for text in texts)
    if reformats:
        assert sorted(texts) == ["agood1\n\nagood2|a?", "bgood1\n\nbgood2|b?"]


KEPT = """
from enum import Enum

class Kind(Enum):
    FREE = 1

@register_benchmark(BenchmarkMeta(name="own", dataset_id="rows.jsonl", metric_list=["acc"]))
class Own(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target="yes", metadata={{"own": {value}}})

    def match_score(self, original_prediction, filtered_prediction, reference, task_state):
        return Score(value={{"acc": float(task_state.metadata["own"] == {value})}})
{more}
"""


@pytest.mark.parametrize("more", ["", OWN_LOAD])
def test_what_a_sample_keeps_is_the_same_when_it_is_scored(tmp_path: Path, endpoint: Endpoint, more: str) -> None:
    """In the process of the scorer."""
    write_jsonl(tmp_path / "rows.jsonl", [{"q": "So?"}])
    value = "{'unit': None, 'list': [[1, 'two'], {}], 'number': 1.5, 'yes': True, 'text': '\u00e9'}"
    (row,) = run(tmp_path, endpoint, KEPT.format(value=value, more=more))
    assert row["reward"] == 1


@pytest.mark.parametrize("more", ["", OWN_LOAD])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("(1, 2)", "metadata.own is a tuple"),
        ("[{'pair': (1, 2)}]", "metadata.own.0.pair is a tuple"),
        ("{1: 'one'}", "metadata.own has the key 1"),
        ("Kind.FREE", "metadata.own is a Kind"),
    ],
)
def test_what_would_be_another_object_when_it_is_scored_is_refused_by_name(
    tmp_path: Path, endpoint: Endpoint, value: str, message: str, more: str
) -> None:
    """A scorer that compares it would say that every answer is wrong."""
    write_jsonl(tmp_path / "rows.jsonl", [{"q": "So?"}])
    with pytest.raises(DatasetError, match=message):
        run(tmp_path, endpoint, KEPT.format(value=value, more=more))


def test_an_import_from_above_the_folders_of_the_file_is_refused(tmp_path: Path) -> None:
    """Only the folder of a file and those that hold its package are looked in."""
    (tmp_path / "own.py").write_text(HEAD + "from ..other.utils import read\n" + own(dataset_id="rows.jsonl"))
    with pytest.raises(PluginError, match=r"own\.py cannot be imported: ImportError: attempted relative import"):
        find_benchmark(str(tmp_path / "own.py"))

"""Groups of EvalScope's adapters: modules beside the file, named entities, judge declarations, dataset files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from nel.authoring.registry import find_benchmark
from nel.compat.evalscope.datasets import DatasetHub
from nel.compat.evalscope.judge_definition import (
    JudgeCase,
    JudgeContext,
    JudgeDefinition,
    JudgeRequest,
    OutputContract,
    ReducedVerdict,
    judge_answer,
)
from nel.compat.evalscope.messages import TaskState
from nel.compat.evalscope.ner import NERAdapter
from nel.compat.evalscope.samples import ChatMessageUser, Sample, SampleScore, Score
from nel.errors import DatasetError, PluginError

BESIDE = """
from evalscope.api.benchmark import BenchmarkMeta, DefaultDataAdapter
from evalscope.api.dataset import Sample
from evalscope.api.registry import register_benchmark
from evalscope.benchmarks.other.words import WORD
from .words import asked


@register_benchmark(BenchmarkMeta(name="own", dataset_id="none"))
class Own(DefaultDataAdapter):
    def record_to_sample(self, record):
        from evalscope.benchmarks.own.words import target
        return Sample(input=asked(record) + WORD, target=target(record))
"""
WORDS = """
def asked(record):
    return record["q"]


def target(record):
    from NAME import json_of
    return json_of(record["a"])
"""


def write_beside(tmp_path: Path, imported: str) -> str:
    folder = tmp_path / "benchmarks" / "own"
    (tmp_path / "benchmarks" / "other").mkdir(parents=True)
    (tmp_path / "benchmarks" / "other" / "words.py").write_text("WORD = '!'\n", encoding="utf-8")
    folder.mkdir()
    (folder / "own_adapter.py").write_text(BESIDE, encoding="utf-8")
    (folder / "words.py").write_text(WORDS.replace("NAME", imported), encoding="utf-8")
    (folder / "more.py").write_text("from json import dumps as json_of\n", encoding="utf-8")
    return str(folder / "own_adapter.py")


def test_a_file_imports_the_modules_beside_it(tmp_path: Path) -> None:
    """By a relative import, and by the tool's own name of the same folder or of one beside it."""
    sample = find_benchmark(write_beside(tmp_path, ".more")).sample({"q": "Why?", "a": "x"}, sample_id="0")
    assert (sample.input, sample.target) == ("Why?!", '"x"')


def test_a_module_beside_a_file_does_not_replace_a_name_of_the_file(tmp_path: Path) -> None:
    """The published adapter of CMMU calls the tool's ``prompt`` and has a ``prompt.py`` beside it."""
    path = Path(write_beside(tmp_path, ".more"))
    path.with_name("shout.py").write_text("TEXT = '!'\n", "utf-8")
    later = "def shout(text):\n    from .shout import TEXT\n    return text + TEXT\n"
    path.write_text(later + path.read_text("utf-8"), "utf-8")
    find_benchmark(str(path))
    module = next(each for name, each in sys.modules.items() if getattr(each, "__file__", None) == str(path))
    assert module.shout("Why?") == "Why?!"


@pytest.mark.parametrize(
    ("imported", "message"),
    [
        (".nowhere", "there is no module nowhere beside the file"),
        ("evalscope.api.tool", "nothing to stand for evalscope.api.tool"),
        ("no_such_package", "No module named 'no_such_package'"),
    ],
)
def test_a_later_import_beside_a_file_is_refused_when_it_is_read(tmp_path: Path, imported: str, message: str) -> None:
    """So that none fails in a scorer, which would count it as a wrong answer."""
    with pytest.raises(PluginError, match=message):
        find_benchmark(write_beside(tmp_path, imported))


TOKENS = ["Ann", "Lee", "left", "Acme", "Corp", "in", "Rome", ".", "Lee", "stayed"]
LABELS = ["B-PER", "I-PER", "O", "B-ORG", "I-ORG", "O", "B-LOC", "O", "B-PER", "O"]

FULL = (
    "<response><person>Ann Lee</person> left <organization>Acme Corp</organization> in"
    " <location>Rome</location> . <person>Lee</person> stayed</response>"
)


class Entities(NERAdapter):
    """Three kinds of entities."""

    def __init__(self) -> None:
        """Say the kinds."""
        from nel.compat.evalscope.meta import BenchmarkMeta

        super().__init__(benchmark_meta=BenchmarkMeta(name="entities", dataset_id="none"))
        self.entity_type_map = {"PER": "person", "ORG": "organization", "LOC": "location"}
        self.entity_descriptions = {"PER": "people", "ORG": "firms", "LOC": "places"}
        self.setup_entity_mappings()


@pytest.mark.parametrize(
    ("reply", "numbers"),
    [
        (
            FULL,
            [1.0, 1.0, 1.0, 1.0],
        ),
        ("<person>Ann</person> left <organization>Acme Corp</person> in Rome", [0.5, 0.25, 0.3333333333333333, 0.7]),
        ("<person>Ann Lee left Acme Corp", [0.0, 0.0, 0.0, 0.5]),
        ("<foo>Acme</foo> <PERSON>Lee</PERSON>", [0.0, 0.0, 0.0, 0.4]),
        ("", [0.0, 0.0, 0.0, 0.4]),
    ],
)
def test_named_entities_have_the_numbers_of_evalscope(reply: str, numbers: list[float]) -> None:
    """Precision, recall, F1 and accuracy, as EvalScope's newest repository with seqeval gives them."""
    adapter = Entities()
    sample = adapter.record_to_sample({"tokens": TOKENS, "ner_tags": LABELS})
    assert isinstance(sample, Sample)
    score = adapter.match_score(reply, reply, "", TaskState(model="m", sample=sample))
    assert list(score.value.values()) == pytest.approx(numbers)
    total = adapter.aggregate_scores([SampleScore(score=score)])
    assert [number.score for number in total] == pytest.approx(numbers)


class Grade(BaseModel):
    """What a judge replies."""

    reasoning: str = ""
    verdict: Literal["A", "B"]


class Judge:
    """A judge that gives one reply."""

    def __init__(self, reply: str) -> None:
        """Take the reply."""
        self.reply, self.asked = reply, ""

    def judge(self, prompt: str, system_prompt: str | None = None) -> str:
        """Return the reply."""
        self.asked = prompt
        return self.reply


def context() -> JudgeContext:
    state = TaskState(model="m", sample=Sample(input="Capital?", target="Paris"))
    return JudgeContext(task_state=state, original_prediction="Rome", filtered_prediction="Rome", reference="Paris")


def scored(reply: str, definition: JudgeDefinition) -> tuple[Score, str]:
    judge: Any = Judge(reply)
    return judge_answer(definition, context(), judge), judge.asked


LABELLED = JudgeDefinition.labels(prompt="Right?", schema_model=Grade, scores={"A": {"acc": 1.0}, "B": {"acc": 0.0}})


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ('{"verdict": "A"}', 1.0),
        ('```json\n{"reasoning": "x {y}", "verdict": "B"}\n```', 0.0),
        ('I say "{":\n{"verdict": "A"}', 1.0),
        ('As \\boxed{12} is 12: {"verdict": "A"}', 1.0),
    ],
)
def test_a_label_of_the_judge_says_the_numbers(reply: str, value: float) -> None:
    """The prompt ends with what EvalScope says of the schema."""
    score, asked = scored(reply, LABELLED)
    assert score.value == {"acc": value}
    assert asked == (
        "Right?\n\nReply with a single JSON object and no other text, containing these required keys (additional keys"
        ' are allowed):\n- "reasoning": a string\n- "verdict": exactly one of "A" or "B"'
    )


def test_cases_are_judged_one_by_one_and_counted_together() -> None:
    """Each request sees the verdicts before it, and `finalize` the review."""

    def request(case: JudgeCase, placement: str, completed: list[Any], about: JudgeContext) -> JudgeRequest:
        return JudgeRequest(messages=[ChatMessageUser(content=f"{case.case_id} after {len(completed)}")])

    def reduce(verdicts: list[Any], about: JudgeContext) -> ReducedVerdict:
        return ReducedVerdict(value={"acc": len(verdicts) / 2}, metadata={"why": verdicts[0].value.reasoning})

    def finalize(score: Score, review: Any, about: JudgeContext) -> Score:
        score.explanation = review.metadata["why"]
        return score

    contract = OutputContract(schema_model=Grade)
    cases = [JudgeCase(case_id=name, output_contract=contract) for name in ("x", "y")]
    definition = JudgeDefinition.workflow(cases=cases, request=request, reduce=reduce, finalize=finalize)
    score, asked = scored('{"verdict": "A", "reasoning": "so"}', definition)
    assert (score.value, score.explanation, asked) == ({"acc": 1.0}, "so", "y after 1")


def test_a_skipped_judge_is_not_asked() -> None:
    """The adapter's own score counts."""
    score, asked = scored("", JudgeDefinition.skip(Score(value={"acc": 0.5}), reason="a choice"))
    assert (score.value, score.metadata, asked) == ({"acc": 0.5}, {"judge_skip_reason": "a choice"}, "")


def test_files_of_a_local_dataset_are_read_where_they_are(tmp_path: Path) -> None:
    """A folder stands for a snapshot of the hub; what is not in it is said by name."""
    (tmp_path / "rows.json").write_text("[]", encoding="utf-8")
    hub = DatasetHub(str(tmp_path))
    assert hub.download_snapshot() == str(tmp_path)
    assert hub.download_file("rows.json") == str(tmp_path / "rows.json")
    with pytest.raises(DatasetError, match="has no file more"):
        hub.download_file("more.json")

"""Adapters written for EvalScope run as they stand: their names, prompts and verdicts, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from nel.authoring.lent_names import standing_in
from nel.authoring.registry import benchmarks_in_file, find_benchmark
from nel.compat.evalscope.answer_scoring import AnsweredModel, _own_sample
from nel.compat.evalscope.bridge import AdaptedBenchmark
from nel.compat.evalscope.loading import SUBSET
from nel.compat.evalscope.mathematics import MathEvaluationError, compare_answers
from nel.compat.evalscope.names import NAMES
from nel.compat.evalscope.values import bytes_to_base64
from nel.errors import DatasetError, PluginError
from nel.types import Sample, ScorerInput

HEAD = """\
from evalscope.api.benchmark import BenchmarkMeta, DefaultDataAdapter, MultiChoiceAdapter, VisionLanguageAdapter
from evalscope.api.dataset import Sample
from evalscope.api.evaluator import TaskState
from evalscope.api.messages import ChatMessageUser, Content, ContentImage, ContentText
from evalscope.api.metric import MetricSelector, Score
from evalscope.api.registry import register_benchmark
from evalscope.constants import ScoreStatus, Tags
from evalscope.utils.logger import get_logger
from evalscope.utils.multi_choices import MultipleChoiceTemplate, prompt

logger = get_logger()


def meta(**more):
    return BenchmarkMeta(
        name="own", dataset_id="rows.jsonl", pretty_name="Own", description="Own.", tags=[Tags.MULTIPLE_CHOICE],
        evaluation_version="v1", hf_dataset_id="org/own", supports_choice=True,
        primary_metric=MetricSelector(name="accuracy"), **{"metric_list": ["acc"], **more})
"""
CHOICE = """
@register_benchmark(meta(prompt_template=MultipleChoiceTemplate.SINGLE_ANSWER))
class Own(MultiChoiceAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], choices=["red", "blue", "green"], target=record["a"])
"""
PLAIN = """
@register_benchmark(meta(prompt_template="Q: {question}", metric_list=[METRIC]))
class Own(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["a"])

    def extract_answer(self, prediction, task_state):
        from evalscope.metrics.math.parser import extract_answer
        return extract_answer(prediction) if "boxed" in prediction else prediction
"""


def loaded(tmp_path: Path, body: str) -> AdaptedBenchmark:
    path = tmp_path / "own.py"
    path.write_text(HEAD + body, encoding="utf-8")
    found = find_benchmark(str(path))
    assert isinstance(found, AdaptedBenchmark)
    return found


def scored(benchmark: AdaptedBenchmark, sample: Sample, reply: str) -> dict[str, float]:
    given = ScorerInput(response=reply, target=sample.target, metadata=dict(sample.metadata), sample=sample)
    state = benchmark.adapter.run_inference(AnsweredModel(sample.input, reply, None), _own_sample(given))
    return benchmark.adapter.calculate_metrics(state).score.value


def test_a_multiple_choice_adapter_asks_as_evalscope_does(tmp_path: Path) -> None:
    """The template is EvalScope's word for word, and settings that nel does not use are kept."""
    benchmark = loaded(tmp_path, CHOICE)
    sample = benchmark.sample({"q": "Sky?", "a": "B"}, sample_id="0")
    assert sample.input == (
        "Answer the following multiple choice question. The entire content of your response should be of the following "
        "format: 'ANSWER: [LETTER]' (without quotes) where [LETTER] is one of A,B,C.\n\nSky?\n\nA) red\nB) blue\n"
        "C) green"
    )
    assert benchmark.adapter.meta.hf_dataset_id == "org/own"


def test_letters_are_read_as_evalscope_reads_them(tmp_path: Path) -> None:
    """The last marker with a letter counts, else the last capital where it is an option."""
    benchmark = loaded(tmp_path, CHOICE)
    sample = benchmark.sample({"q": "Sky?", "a": "B"}, sample_id="0")
    right = {
        "ANSWER: B": True,
        "**Answer: (B)**": True,
        "ANSWER: $\\boxed{\\text{B}}$": True,
        "ANSWER: A\nNo.\nANSWER: B, not C": True,
        "ANSWER: [LETTER]\nIt must be B": True,
        "ANSWER: A and B": False,
        "I would say B": True,
        "B or Z": False,
        "": False,
    }
    assert {reply: scored(benchmark, sample, reply) == {"acc": 1.0} for reply in right} == right


@pytest.mark.parametrize(
    ("metric", "target", "reply", "score"),
    [
        ('"acc"', "Paris", " paris ", 1.0),
        ('"acc"', "Paris", "in Paris", 0.0),
        ('{"acc": {"allow_inclusion": True}}', ["Rome", "Paris"], "paris", 1.0),
        ('{"acc": {"numeric": True}}', "1,200", "so \\boxed{1200}", 1.0),
        ('{"acc": {"numeric": True}}', "1200", "so \\boxed{12}", 0.0),
        ('"multi_choice_acc"', ["A", "C"], "A", 0.5),
        ('"anls"', "1987", "1987", 1.0),
        ('"anls"', '["12 May", "May 12"]', "  12\n Mai ", 1 - 1 / 6),
    ],
)
def test_metrics_are_evalscopes(tmp_path: Path, metric: str, target: Any, reply: str, score: float) -> None:
    """Case and outer spaces do not count, mathematics is compared, and any of several answers is right.

    An answer of ANLS that is JSON and no list, as a year is, is the text that it was; its spaces have no length.
    """
    benchmark = loaded(tmp_path, PLAIN.replace("METRIC", metric))
    sample = benchmark.sample({"q": "?", "a": target}, sample_id="0")
    assert sample.input == "Q: ?"
    assert list(scored(benchmark, sample, reply).values()) == [score]


def test_images_become_parts_of_the_message(tmp_path: Path) -> None:
    """Placeholders are replaced by images in the form that endpoints take, and one without an image is dropped."""
    body = """
@register_benchmark(meta())
class Own(VisionLanguageAdapter):
    def record_to_sample(self, record):
        url = self._image_bytes_to_base64(b"\\xff\\xd8\\xff", guess_mimetype=True)
        parts = self._parse_text_with_images("See <image 1> and <image 2>.", {1: url})
        return Sample(input=[ChatMessageUser(content=parts)], target="A")
"""
    sample = loaded(tmp_path, body).sample({}, sample_id="0")
    assert isinstance(sample.input, tuple)
    assert sample.input[0].content == (
        {"type": "text", "text": "See "},
        {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,/9j/", "detail": "auto"}},
        {"type": "text", "text": " and "},
        {"type": "text", "text": "."},
    )
    assert bytes_to_base64(b"\xff") == "/w=="


def test_a_film_of_a_local_file_is_sent_as_its_bytes(tmp_path: Path) -> None:
    """As EvalScope sends it: an endpoint cannot read a path of this machine, and one that is none is a bad row."""
    body = """
@register_benchmark(meta())
class Own(DefaultDataAdapter):
    def record_to_sample(self, record):
        from evalscope.api.messages import ContentVideo
        parts = [ContentVideo(video=record["film"], fps=2), ContentText(text="Who left?")]
        return Sample(input=[ChatMessageUser(content=parts)], target="A")
"""
    benchmark = loaded(tmp_path, body)
    (tmp_path / "a.mov").write_bytes(b"\xff")
    sample = benchmark.sample({"film": str(tmp_path / "a.mov")}, sample_id="0")
    assert isinstance(sample.input, tuple)
    film = {"type": "video_url", "video_url": {"url": "data:video/quicktime;base64,/w=="}, "fps": 2}
    assert sample.input[0].content == (film, {"type": "text", "text": "Who left?"})
    with pytest.raises(DatasetError, match="a film is neither an address nor a file"):
        benchmark.sample({"film": "b.mov"}, sample_id="1")


PICTURES = """
@register_benchmark(meta())
class Own(VisionLanguageAdapter):
    def record_to_sample(self, record):
        image_map = self._extract_media(record, "image")
        parts = self._parse_text_with_media(record["q"], image_map=image_map)
        return Sample(input=[ChatMessageUser(content=parts)], target="A")
"""


@pytest.mark.parametrize(
    "cells", [{"image_1": None, "image_2": {"bytes": "/9j/", "path": None}}, {"images": ["", "P"]}]
)
def test_pictures_of_a_record_are_found_by_their_numbers(tmp_path: Path, cells: dict[str, Any]) -> None:
    """Numbered columns or a list; bytes kept as base64, or a file; a number without a picture is dropped."""
    (tmp_path / "picture").write_bytes(b"\xff\xd8\xff")
    given = {name: [str(tmp_path / "picture") if one == "P" else one for one in cell] if name == "images" else cell
             for name, cell in cells.items()}  # fmt: skip
    sample = loaded(tmp_path, PICTURES).sample({"q": "<image_1>See <image 2>", **given}, sample_id="0")
    assert isinstance(sample.input, tuple)
    assert sample.input[0].content == (
        {"type": "text", "text": "See "},
        {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,/9j/", "detail": "auto"}},
    )


@pytest.mark.parametrize(
    ("cells", "message"),
    [({"images": ["nowhere.png"]}, "neither an address nor a file"), ({"image_1": {"x": 1}}, "an image has bytes")],
)
def test_a_picture_that_is_none_is_a_bad_row(tmp_path: Path, cells: dict[str, Any], message: str) -> None:
    """It costs its own row, and is never sent as it stands."""
    with pytest.raises(DatasetError, match=message):
        loaded(tmp_path, PICTURES).sample({"q": "<image 1>", **cells}, sample_id="0")


def test_records_are_read_with_the_name_of_their_subset(tmp_path: Path) -> None:
    """`current_subset_name` is set while a record of that subset is read, and at no other time."""
    body = CHOICE.replace("meta(", 'meta(subset_list=["x", "y"], ').replace(
        'input=record["q"]', "input=self.current_subset_name"
    )
    benchmark = loaded(tmp_path, body)
    sample = benchmark.sample({"q": "Sky?", "a": "B", SUBSET: "y"}, sample_id="0")
    assert "\n\ny\n\nA) red" in str(sample.input)
    assert benchmark.adapter.current_subset_name == ""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (CHOICE.replace("meta(", "meta(max_image_bytes='1mb', "), "leave out max_image_bytes"),
        ("from evalscope.api.tool import ToolInfo", "nothing to stand for evalscope.api.tool"),
        ("from evalscope.api.benchmark import AgentAdapter", "AgentAdapter is an agent, which asks again and again"),
        (CHOICE + "\n    def extract_answer(self, p, s):\n        from .utils import read\n", "no module utils beside"),
        (CHOICE + "\n    def batch_calculate_metrics(self, *_):\n        return []\n", "own batch_calculate_metrics"),
        (
            CHOICE + "\n    def judge_definition(self, context):\n        return super().judge_definition(context)\n",
            "asks for EvalScope's own",
        ),
        (
            CHOICE + "\n    def extract_answer(self, p, s):\n        from evalscope.api.tool import run\n",
            "nothing to stand for evalscope.api.tool",
        ),
        (CHOICE.replace("SINGLE_ANSWER)", 'SINGLE_ANSWER, aggregation="bayes_at_n")'), 'no aggregation "bayes_at_n"'),
    ],
)
def test_what_nel_cannot_do_is_refused_by_name_when_the_file_is_read(tmp_path: Path, body: str, message: str) -> None:
    """Agents, tools, scores of many answers at once and later imports end the run before anything is sent."""
    with pytest.raises(PluginError, match=message):
        loaded(tmp_path, body)


def test_every_module_can_be_imported_and_none_stays() -> None:
    """The names exist while a file is loaded and at no other time."""
    with standing_in():
        for name in NAMES.homes:
            __import__(name)
    assert not [name for name in sys.modules if name.partition(".")[0] == "evalscope"]


def test_an_installed_evalscope_is_never_shadowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where EvalScope is there, a file is given EvalScope's own names."""
    real = ModuleType("evalscope")
    real.mark = "its own"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "evalscope", real)
    path = tmp_path / "own.py"
    path.write_text("import evalscope\nassert evalscope.mark == 'its own'\n", encoding="utf-8")
    with pytest.raises(PluginError, match="defines no benchmark"):
        benchmarks_in_file(path)


@pytest.mark.parametrize(("reply", "letter"), [("I would say B", "B"), ("B or Z", ""), ("ANSWER: E", "")])
def test_letters_are_read_only_where_they_are_options(tmp_path: Path, reply: str, letter: str) -> None:
    """A capital letter that no option has is not an answer, so that it is counted as such."""
    benchmark = loaded(tmp_path, CHOICE)
    sample = benchmark.sample({"q": "Sky?", "a": "B"}, sample_id="0")
    given = ScorerInput(response=reply, target="B", sample=sample)
    state = benchmark.adapter.run_inference(AnsweredModel(sample.input, reply, None), _own_sample(given))
    assert benchmark.adapter.extract_answer(reply, state) == letter


@pytest.mark.parametrize(
    ("prediction", "matched"),
    [("12", True), ("12.0", True), ("12.5", False), ("24/2", False), ("12%", False), ("x", False), ("", False)],
)
def test_whole_numbers_are_compared_where_a_benchmark_asks_for_them(prediction: str, matched: bool) -> None:
    """AIME's adapter does; without it each of its answers had no score."""
    assert compare_answers(prediction, "12", integer_only=True).matched == matched


def test_a_reference_that_is_not_a_whole_number_is_refused_there() -> None:
    """The sample has no score, as with EvalScope."""
    with pytest.raises(MathEvaluationError, match="not a whole number"):
        compare_answers("12", "1/2", integer_only=True)

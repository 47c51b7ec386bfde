"""Adapter classes: each step that can be overridden, what samples a run gets, reports, and what is refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.authoring.fewshot_loading import bind_examples
from nel.authoring.registry import find_benchmark
from nel.benchmarks import (
    AggScore,
    BenchmarkMeta,
    ChatMessage,
    DatasetDict,
    DefaultDataAdapter,
    ModelOutput,
    MultiChoiceAdapter,
    RegexFilter,
    Sample,
    SampleScore,
    Score,
    TaskState,
    register_benchmark,
)
from nel.compat.evalscope.adapting import adapt
from nel.compat.evalscope.aggregation import aggregate_subset
from nel.compat.evalscope.bridge import AdaptedBenchmark
from nel.compat.evalscope.filters import build_filters
from nel.compat.evalscope.report import make_report, report_table
from nel.compat.evalscope.task import TaskConfig, run_task
from nel.config.schema import RunConfig
from nel.datasets.base import RawRow
from nel.engine.planning.plan_judges import check_judge
from nel.errors import ConfigError, DatasetError, PluginError
from nel.types import Message, ScorerInput
from tests.support.distributions import install, path_with
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import nel as cli
from tests.support.runs import only_run, read_results, run_config, write_jsonl

ROWS = [{"q": f"{i}?", "a": str(i), "kind": "even" if i % 2 == 0 else "odd"} for i in range(8)]


class Plain(DefaultDataAdapter):
    def record_to_sample(self, record: dict[str, Any]) -> Sample | list[Sample]:
        return Sample(
            input=record["q"], target=record["a"], subset_key=record["kind"], metadata={"kind": record["kind"]}
        )

    def sample_to_fewshot(self, sample: Sample) -> str:
        return f"{sample.input} -> {sample.target}"


def made(tmp_path: Path, base: type = Plain, rows: list[Any] | None = None, /, **meta: Any) -> AdaptedBenchmark:
    """Register an adapter on rows in a file and return its benchmark."""
    write_jsonl(tmp_path / "rows.jsonl", rows or ROWS)
    arguments = meta.pop("arguments", None)
    given = {"name": "plain", "dataset_id": str(tmp_path / "rows.jsonl"), **meta}
    return adapt(register_benchmark(BenchmarkMeta(**given))(type("Made", (base,), {"__module__": __name__})), arguments)


def inputs(benchmark: AdaptedBenchmark, rows: list[Any] | None = None) -> list[Any]:
    numbered = [RawRow(number=number, data=row) for number, row in enumerate(rows or ROWS, start=1)]
    return [benchmark.sample(row.data, sample_id="1").input for row in benchmark.select(numbered)]


def test_templates_and_messages(tmp_path: Path) -> None:
    """A question goes into its template, after a system message where there is one; messages go as they are."""
    assert inputs(made(tmp_path, prompt_template="Q: {question}"))[0] == "Q: 0?"
    assert inputs(made(tmp_path))[0] == "0?"
    system = inputs(made(tmp_path, system_prompt="Be brief.", prompt_template="Q: {question}"))[0]
    assert system == (Message(role="system", content="Be brief."), Message(role="user", content="Q: 0?"))

    class ScoringContext(Plain):
        def record_to_sample(self, record: dict[str, Any]) -> Sample:
            return Sample(input=[ChatMessage("user", "hi"), ChatMessage("assistant", "ho")], target="x")

    assert inputs(made(tmp_path, ScoringContext, system_prompt="S"))[0] == (
        Message(role="system", content="S"),
        Message(role="user", content="hi"),
        Message(role="assistant", content="ho"),
    )


def test_few_shot_of_each_subset(tmp_path: Path) -> None:
    """Examples come from the train split, of the sample's own subset, and never are the sample itself."""

    class Divided(Plain):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.reformat_subset = True

    write_jsonl(tmp_path / "default_train.jsonl", ROWS)
    write_jsonl(tmp_path / "default_test.jsonl", ROWS[:2])
    benchmark = made(
        tmp_path, Divided, dataset_id=str(tmp_path), subset_list=["even", "odd"], few_shot_num=2, train_split="train",
        few_shot_prompt_template="E:\n{fewshot}\nQ: {question}",
    )  # fmt: skip
    bound, note = bind_examples(benchmark)
    assert note is None
    assert inputs(bound, ROWS[:2]) == ["E:\n2? -> 2\n\n4? -> 4\nQ: 0?", "E:\n3? -> 3\n\n5? -> 5\nQ: 1?"]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("meta", "message"),
    [
        ({"few_shot_num": 1}, "plain has no train_split; name few-shot examples with --fewshot-dataset"),
        ({"few_shot_num": 1, "train_split": "train"}, "has no splits, so that there are no few-shot examples in it"),
    ],
)
def test_few_shot_without_a_source(tmp_path: Path, meta: dict[str, Any], message: str) -> None:
    """It is said before anything is sent, with what to do."""
    with pytest.raises(ConfigError, match=message):
        bind_examples(made(tmp_path, **meta))


def test_filter_then_limit_for_each_subset(tmp_path: Path) -> None:
    """Samples that are filtered out take no place under a limit, and a share is one of what is left."""

    class Filtered(Plain):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.reformat_subset = True

        def sample_filter(self, sample: Sample) -> bool:
            return sample.target not in ("0", "1")

    both = {"subset_list": ["odd", "even"]}
    assert inputs(made(tmp_path, Filtered, **both)) == [f"{i}?" for i in range(2, 8)]
    assert inputs(made(tmp_path, Filtered, **both, arguments={"limit": 2})) == ["2?", "3?", "4?", "5?"]
    assert inputs(made(tmp_path, Filtered, **both, arguments={"limit": 0.34})) == ["2?", "3?"]
    assert inputs(made(tmp_path, Filtered, subset_list=["odd"])) == ["3?", "5?", "7?"]
    with pytest.raises(DatasetError, match="limit is 0"):
        made(tmp_path, arguments={"limit": 0})


def test_a_record_of_several_samples(tmp_path: Path) -> None:
    """Each becomes a sample of its own, with an id of its own."""

    class Pairs(Plain):
        def record_to_sample(self, record: dict[str, Any]) -> list[Sample]:
            return [Sample(input=f"{record['q']} {part}", target=record["a"]) for part in "ab"]

    assert inputs(made(tmp_path, Pairs), ROWS[:2]) == ["0? a", "0? b", "1? a", "1? b"]  # type: ignore[arg-type]
    result, calls = run(tmp_path, made(tmp_path, Pairs, ROWS[:2]), lambda *_: answer("0"))
    assert len(calls) == 4
    assert len({row["sample_id"] for row in read_results(result.run_dir, "plain")}) == 4


def run(tmp_path: Path, benchmark: AdaptedBenchmark, script: Any, **more: Any) -> tuple[Any, list[Call]]:
    """Evaluate a registered adapter by its name."""
    with scripted(script, models=["m"]) as endpoint:
        settings = run_config(endpoint.url, [{"name": benchmark.name, **more}], tmp_path / "out")
        return nel.evaluate(settings), endpoint.calls


def scored(adapter: type, response: str, tmp_path: Path, **meta: Any) -> Any:
    benchmark = made(tmp_path, adapter, **meta)
    sample = benchmark.sample(ROWS[2], sample_id="1")
    given = ScorerInput(response=response, target=sample.target, metadata=dict(sample.metadata), sample=sample)
    return benchmark.scorer(given)


ANSWERS = ["The United Kingdom", "UK", "Great Britain", "1,200"]


@pytest.mark.parametrize(
    ("metric", "response", "expected"),
    [
        ("acc", " uk ", 1.0),
        ("acc", "UK, France", 0.0),
        ("exact_match", "Great Britain", 1.0),
        ({"acc": {"allow_inclusion": True}}, "Britain", 0.0),
        ("numeric_match", "It is 1200", 1.0),
        ("f1", "great", 2 / 3),
        ("rouge_l", "Great Britain", 1.0),
    ],
)
def test_a_list_of_answers_accepts_each_of_them(tmp_path: Path, metric: Any, response: str, expected: float) -> None:
    """By every metric, in any place of the list; two answers joined are none of them."""
    name = metric if isinstance(metric, str) else next(iter(metric))
    for answers in (ANSWERS, ANSWERS[::-1]):
        benchmark = made(tmp_path, Plain, [{"q": "?", "a": answers, "kind": "x"}], metric_list=[metric])
        sample = benchmark.sample({"q": "?", "a": answers, "kind": "x"}, sample_id="1")
        score = benchmark.scorer(ScorerInput(response=response, target=sample.target, sample=sample))
        assert score.value[name] == pytest.approx(expected)


def test_filters_come_before_the_extraction(tmp_path: Path) -> None:
    """Filters in their order, then `extract_answer`; what finds nothing is not an answer."""

    class Last(Plain):
        def extract_answer(self, prediction: str, task_state: TaskState) -> str:
            assert task_state.metadata == {"kind": "even"}
            return prediction.rsplit(maxsplit=1)[-1] if prediction.split() else ""

    filters = {"remove_until": "</think>", "regex": {"regex_pattern": r"is (.*)", "group_select": -1}}
    assert scored(Last, "<think>9</think>it is the 2", tmp_path, filters=filters).answer == "2"
    assert scored(Last, "nothing here", tmp_path, filters=filters).answer is None
    assert RegexFilter(r"(\d+)|([a-z])", -1)("1 b") == "b"
    assert RegexFilter(r"\d")("none") == "[invalid]"
    for wrong in ({"regx": {}}, {"regex": {"pattern": "x"}}, {"regex": {"regex_pattern": "("}}):
        with pytest.raises(ConfigError):
            build_filters(wrong)


def test_inference_hooks(tmp_path: Path) -> None:
    """Hooks run around the answer that is there; one that asks further is answered and kept."""

    class Twice(Plain):
        def _on_inference_start(self, model: Any, sample: Sample) -> None:
            sample.metadata["started"] = True

        def _on_inference(self, model: Any, sample: Sample) -> ModelOutput:
            first = model.generate(sample.input)
            return ModelOutput(completion=first.completion + model.generate(f"again {first.completion}").completion)

        def _on_inference_end(
            self, model: Any, sample: Sample, model_output: ModelOutput, output_dir: str, **_: Any
        ) -> TaskState:
            state = super()._on_inference_end(model, sample, model_output, output_dir)
            assert sample.metadata["started"]
            assert state.messages[-1].content == model_output.completion
            return state

    def script(call: Call, _: int) -> Reply:
        return answer("B" if "again A" in str(call.body) else "A")

    result, calls = run(tmp_path, made(tmp_path, Twice, [{"q": "?", "a": "AB", "kind": "x"}]), script)
    assert [row["reward"] for row in read_results(result.run_dir, "plain")] == [1.0]
    assert len(calls) == 2


def test_a_score_of_the_metrics_names_the_first_as_its_main_one(tmp_path: Path) -> None:
    """As MMMU's adapter asks for it, to put a number of its own there."""

    class Replacing(Plain):
        def match_score(
            self, original_prediction: str, filtered_prediction: str, reference: str, task_state: TaskState
        ) -> Score:
            score = super().match_score(original_prediction, filtered_prediction, reference, task_state)
            assert score.main_score_name is not None
            return dataclasses.replace(score, value={score.main_score_name: 0.25})

    assert scored(Replacing, "x", tmp_path).value == {"acc": 0.25}


def test_a_metric_that_fails_leaves_its_sample_unscored(tmp_path: Path) -> None:
    """A fault of the benchmark is not a wrong answer."""

    class Broken(Plain):
        def match_score(
            self, original_prediction: str, filtered_prediction: str, reference: str, task_state: TaskState
        ) -> Score:
            if reference == "2":
                raise ValueError("what?")
            return Score(value={"b": 0.5, "a": 1.0}, main_score_name="a", explanation="why")

    result, _ = run(tmp_path, made(tmp_path, Broken), lambda *_: answer("x"))
    assert result.exit_code == 3
    found = read_results(result.run_dir, "plain")
    assert [row["reward"] for row in found] == [1.0, 1.0, None, *[1.0] * 5]
    assert found[2]["outcome"]["cause"] == "scorer"
    assert found[0]["scoring_details"]["explanation"] == "why"


class Options(MultiChoiceAdapter):
    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        return Sample(input=record["q"], choices=record["options"], target=record["a"])


CHOICE = {"q": "Which?", "options": ["red", "green", "blue"], "a": "B"}


@pytest.mark.parametrize(
    ("response", "correct"),
    [("Thinking.\nANSWER: B", 1.0), ("ANSWER: A\nANSWER: B", 1.0), ("ANSWER: A or B", 0.0), ("I do not know", 0.0)],
)
def test_multiple_choice(tmp_path: Path, response: str, correct: float) -> None:
    """Choices with letters in the prompt; the last declaration counts, and nothing is guessed."""
    benchmark = made(tmp_path, Options, [CHOICE])
    sample = benchmark.sample(CHOICE, sample_id="1")
    assert isinstance(sample.input, str)
    assert sample.input.endswith("is one of A,B,C.\n\nWhich?\n\nA) red\nB) green\nC) blue")
    assert benchmark.scorer(ScorerInput(response=response, target="B", sample=sample)).value["acc"] == correct


@pytest.mark.parametrize("target", ["C, A", ["A", "C"]])
def test_several_right_answers(tmp_path: Path, target: str | list[str]) -> None:
    """All of them count, in any order and spelling, and a part of them with a metric that gives a part."""

    class Several(Options):
        multiple_correct = True

    row = {**CHOICE, "a": target}
    benchmark = made(tmp_path, Several, [row], metric_list=["acc", "multi_choice_acc"])
    sample = benchmark.sample(row, sample_id="1")

    def score(response: str) -> tuple[float, float]:
        value = benchmark.scorer(ScorerInput(response=response, target=target, sample=sample)).value
        return value["acc"], value["multi_choice_acc"]

    assert score("ANSWER: C, A") == (1.0, 1.0)
    assert score("ANSWER: A") == (0.0, 0.5)
    assert score("ANSWER: A, B") == (0.0, 0.0)
    assert score("no") == (0.0, 0.0)


def test_shuffled_choices_take_the_target_along(tmp_path: Path) -> None:
    """The order depends on the question alone; the letter of the target follows its choice."""
    rows = [{"q": f"{i}?", "options": ["red", "green", "blue"], "a": "B"} for i in range(12)]
    benchmark = made(tmp_path, Options, rows, shuffle_choices=True)
    samples = [benchmark.sample(row, sample_id="1") for row in rows]
    for sample in samples:
        assert sample.choices is not None
        assert sample.choices["ABC".index(sample.target)] == "green"
    assert len({sample.choices for sample in samples}) > 2
    assert [benchmark.sample(row, sample_id="2").choices for row in rows] == [sample.choices for sample in samples]


def test_subsets_from_files(tmp_path: Path) -> None:
    """Each subset is a file of the folder, and its name is the sample's category."""
    folder = tmp_path / "data"
    folder.mkdir()
    write_jsonl(folder / "easy_test.jsonl", ROWS[:2])
    write_jsonl(folder / "hard.jsonl", ROWS[2:5])
    benchmark = made(tmp_path, dataset_id=str(folder), subset_list=["easy", "hard"], arguments={"limit": 2})
    result, _ = run(tmp_path, benchmark, lambda *_: answer("0"), args={"limit": 2})
    rows = read_results(result.run_dir, "plain")
    assert [row["metadata"]["category"] for row in rows] == ["easy", "easy", "hard", "hard"]
    gone = made(tmp_path, dataset_id=str(folder), subset_list=["easy", "gone"])
    with pytest.raises(DatasetError, match=r'it has no config "gone"; its files: easy_test.jsonl, hard.jsonl'):
        run(tmp_path, gone, lambda *_: answer("0"))


@pytest.mark.parametrize(
    ("dataset", "meta", "uri"),
    [
        ("org/name", {"dataset_revision": "abc"}, "hf://org/name?split=test&revision=abc"),
        ("hf://org/name?config=x", {"subset_list": ["main"]}, "hf://org/name?config=x&split=test"),
        ("ms://org/name", {"dataset_revision": "abc"}, "ms://org/name?split=test&revision=abc"),
        ("pkg://nel/benchmarks/data/quickstart.jsonl", {}, "pkg://nel/benchmarks/data/quickstart.jsonl"),
    ],
)
def test_where_a_name_leads(tmp_path: Path, dataset: str, meta: dict[str, Any], uri: str) -> None:
    """A plain name is one of the hub, with its subset as the configuration."""
    assert made(tmp_path, dataset_id=dataset, **meta).dataset == uri


def test_dataset_dict() -> None:
    """By key, in the order of the list, limited for each, repeats side by side, and copies."""
    samples = [Sample(input=str(i), subset_key="ab"[i % 2], metadata={"x": []}) for i in range(6)]
    divided = DatasetDict.from_dataset(samples, ["b", "c"], limit=2, repeats=2)
    assert list(divided) == ["b", "c"]
    assert [sample.input for sample in divided["b"]] == ["1", "1", "3", "3"]
    assert [(sample.id, sample.group_id) for sample in divided["b"]] == [(0, 0), (1, 0), (2, 1), (3, 1)]
    assert len(divided["c"]) == 0
    divided["b"][0].metadata["x"].append(1)
    assert divided["b"][1].metadata["x"] == samples[1].metadata["x"] == []
    assert [len(part) for part in DatasetDict.from_dataset(samples, limit=0.5).values()] == [1, 1]
    assert [len(part) for part in DatasetDict.from_dataset(samples, limit=1.0).values()] == [3, 3]
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(DatasetError, match="give a whole number from 1, or a share"):
            DatasetDict.from_dataset(samples, limit=wrong)


def scores(*values: tuple[str, float, str]) -> list[SampleScore]:
    return [
        SampleScore(score=Score(value={"acc": value}, extracted_prediction=said), group_id=group)
        for group, value, said in values
    ]


@pytest.mark.parametrize(
    ("aggregation", "expected"),
    [
        ("mean", {"mean": 0.5}),
        ("mean_and_pass_at_k", {"mean": 0.5, "pass_at_1": 0.5, "pass_at_2": 0.5}),
        ("mean_and_pass_hat_k", {"mean": 0.5, "pass_hat_1": 0.5, "pass_hat_2": 0.5}),
        ("vote_at_k", {"vote_at_1": 0.5, "vote_at_2": 0.5}),
    ],
)
def test_aggregations(aggregation: str, expected: dict[str, float]) -> None:
    """Over repeats k goes up to the fewest repeats of a problem."""
    given = scores(("1", 1.0, "a"), ("1", 1.0, "a"), ("2", 0.0, "b"), ("2", 0.0, "c"))
    assert {one.aggregation: one.score for one in aggregate_subset(aggregation, given)} == expected


def test_a_vote_at_k_counts_the_first_k_repeats() -> None:
    """The majority of three is not that of the first two, where the earlier answer wins a tie; an empty one has no vote."""
    given = scores(("1", 0.0, "a"), ("1", 1.0, "b"), ("1", 1.0, "b"))
    assert [one.score for one in aggregate_subset("vote_at_k", given)] == [0.0, 0.0, 1.0]
    given = scores(("1", 0.0, ""), ("1", 0.0, " "), ("1", 1.0, "b"))
    assert [one.score for one in aggregate_subset("vote_at_k", given)] == [0.0, 0.0, 1.0]


def test_a_weighted_mean_counts_units() -> None:
    """A prompt with three instructions counts thrice; without the number of one of them all count alike."""
    given = scores(("1", 1.0, "a"), ("2", 0.5, "b"))
    given[0].score.metadata = {"metric_weights": {"acc": 3}}
    (plain,) = aggregate_subset("weighted_mean", given)
    assert (plain.score, plain.aggregation, plain.num) == (0.75, "mean", 2)
    given[1].score.metadata = {"metric_weights": {"acc": 1}}
    (weighted,) = aggregate_subset("weighted_mean", given)
    assert (weighted.score, weighted.aggregation, weighted.num) == (0.875, "weighted_mean", 4)


def test_report_with_categories() -> None:
    """Rows by subset with categories wide to narrow, one row over all for each metric, and unscored below."""
    found = {
        name: [AggScore(score=score, metric_name="acc", num=num)] for name, score, num in (("a", 1.0, 1), ("b", 0.5, 3))
    }
    report = make_report(BenchmarkMeta("x", "y"), found, "m", {"a": ["Science", "Physics"], "b": "Arts"})
    assert report.score == 0.625
    report.unscored = {"infra": 2}
    lines = report_table([report]).splitlines()
    assert lines[1].split("|")[1:-1] == [
        " Model ", " Dataset ", " Metric   ", " Subset  ", " Num ", " Score ", " Cat.0   ", " Cat.1   ",
    ]  # fmt: skip
    assert [cell.strip() for cell in lines[3].split("|")[4:-1]] == ["a", "1", "1", "Science", "Physics"]
    assert [cell.strip() for cell in lines[7].split("|")[4:-1]] == ["OVERALL", "4", "0.625", "-", "-"]
    assert lines[-1] == "x: 2 unscored (infra 2)"
    assert report.to_dict()["rows"][0]["metric"] == "mean_acc"


FILE = """
from nel.benchmarks import BenchmarkMeta, DefaultDataAdapter, Sample, Tags, register_benchmark

@register_benchmark(BenchmarkMeta(name="filed", dataset_id="rows.jsonl", tags=[Tags.MATH], %s))
class Filed(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["a"])

    def sample_to_fewshot(self, sample):
        return f"{sample.input} {sample.target}"

    def _on_generate_report_end(self, report, output_dir, **kwargs):
        report.description = f"written to {output_dir.rsplit('/', 1)[-1]}"
"""


def write_file(tmp_path: Path, meta: str = "") -> Path:
    write_jsonl(tmp_path / "rows.jsonl", ROWS)
    (tmp_path / "filed.py").write_text(FILE % meta)
    return tmp_path / "filed.py"


def test_an_adapter_file_is_a_benchmark_like_any_other(tmp_path: Path) -> None:
    """Its path runs, is checked, and resumes; changed arguments are refused, and changed shots as well."""
    path = write_file(tmp_path)
    checked = cli("plugin", "check", str(path), cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout
    assert "ok    a gold answer scores 1: 8 samples" in checked.stdout
    broken = True

    def script(call: Call, _: int) -> Reply:
        question = call.body["messages"][-1]["content"]
        return Reply(status=501, body={}) if broken and "3" in question else answer(question.strip("?"))

    with scripted(script, models=["m"]) as endpoint:
        common = ("eval", "run", "--bench", "filed.py", "--model-url", endpoint.url, "--model-id", "m", "-o", "out")
        assert cli(*common, "-O", "engine.faults_in_a_row_max=50", cwd=tmp_path).returncode == 3
        broken, before = False, len(endpoint.calls)
        changed = cli(*common, "--resume", "-O", "benchmarks.0.args.prompt_template=Q {question}", cwd=tmp_path)
        assert changed.returncode == 2
        assert "cannot resume filed" in changed.stderr
        assert len(endpoint.calls) == before
        again = cli("eval", "resume", str(only_run(tmp_path / "out")), cwd=tmp_path)
        assert again.returncode == 0, again.stderr
        assert len(endpoint.calls) == before + 1
    assert [row["reward"] for row in read_results(only_run(tmp_path / "out"), "filed")] == [1.0] * 8


def test_an_entry_point_may_name_the_class(tmp_path: Path) -> None:
    """An installed adapter is listed with its description and run by its name, without being a file."""
    site = tmp_path / "site"
    modules = {"levels": FILE % "description='Eight rows.'"}
    install(site, "levels", {"nel.benchmarks": {"filed": "levels:Filed"}}, modules=modules)
    write_jsonl(site / "rows.jsonl", ROWS)
    environment = path_with(site)
    listed = cli("list", "benchmarks", cwd=tmp_path, env=environment)
    (line,) = [line for line in listed.stdout.splitlines() if line.startswith("filed ")]
    assert line.split() == ["filed", "benchmarks", "levels", "1.0", "Eight", "rows"]
    with scripted(lambda *_: answer("3"), models=["m"]) as endpoint:
        common = ("--model-url", endpoint.url, "--model-id", "m", "-o", "out", "--run-id", "r")
        done = cli("eval", "run", "--bench", "filed", *common, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert sum(row["reward"] for row in read_results(tmp_path / "out" / "r", "filed")) == 1.0


def test_run_task_with_repeats_and_an_installed_benchmark(tmp_path: Path) -> None:
    """Aggregations over repeats, several configurations, and a benchmark that is not an adapter class."""
    made(tmp_path, Plain, ROWS[:2], aggregation="mean_and_pass_at_k")
    replies = iter(["0", "0", "0", "1"] * 10)
    with scripted(lambda *_: answer(next(replies)), models=["m"]) as endpoint:
        common = {"model": "m", "api_url": endpoint.url, "work_dir": str(tmp_path / "out"), "eval_batch_size": 1}
        (first,) = run_task(
            [{**common, "datasets": ["plain"], "repeats": 2, "generation_config": {"temperature": 1.0}}]
        )
        second = run_task(TaskConfig(**common, datasets=["quickstart"], limit=3))
    assert [(row.metric, row.num) for row in first["plain"].rows] == [
        ("mean_acc", 4),
        ("pass_at_1_acc", 2),
        ("pass_at_2_acc", 2),
    ]
    assert [call.body.get("temperature") for call in endpoint.calls] == [1.0] * 4 + [None] * 3
    assert sum(row.num for row in second["quickstart"].rows if row.subset != "OVERALL") == 3


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"api_url": None}, "no endpoint is named for m; nel evaluates models behind an endpoint"),
        ({"api_key": "sk-secret"}, "api_key_env"),
        ({"judge_strategy": "llm"}, "needs a judge; give judge_model_args"),
        ({"judge_model_args": {"api_key": "sk-secret", "api_url": "x"}}, "name of the variable"),
        (
            {
                "datasets": ["quickstart"],
                "judge_strategy": "llm",
                "judge_model_args": {"api_url": "http://h/v1", "model_id": "j"},
            },
            "is not an adapter class, so that its own scorer decides",
        ),
        ({"dataset_args": {"other": {}}}, "dataset_args names other, which datasets does not"),
        ({"datasets": ["quickstart"], "dataset_args": {"quickstart": {"few_shot_num": 1}}}, "quickstart takes no args"),
        (
            {"dataset_args": {"plain": {"subset_lst": []}}},
            'there is no setting "subset_lst"; did you mean "subset_list"',
        ),
        ({"dataset_args": {"plain": {"limt": 1}}}, 'there is no setting "limt"; did you mean "limit"'),
        ({"dataset_args": {"plain": {"extra_params": {"x": 1}}}}, 'no extra parameter "x"'),
    ],
)
def test_a_task_that_cannot_be_run(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    """It is refused with the next step, nothing is sent, and no key is repeated."""
    made(tmp_path)
    with scripted(lambda *_: answer("0"), models=["m"]) as endpoint:
        given: dict[str, Any] = {
            "model": "m",
            "api_url": endpoint.url,
            "datasets": ["plain"],
            "work_dir": str(tmp_path / "out"),
            **fields,
        }
        with pytest.raises(ConfigError, match=message) as caught:
            run_task(given)
        assert endpoint.calls == []
    assert "sk-secret" not in str(caught.value)


def test_a_task_goes_on_in_its_directory(tmp_path: Path) -> None:
    """use_cache names the run to continue: a complete one sends nothing and reports the same."""
    made(tmp_path)
    with scripted(lambda *_: answer("3"), models=["m"]) as endpoint:
        given = {"model": "m", "api_url": endpoint.url, "datasets": ["plain"], "work_dir": str(tmp_path / "out")}
        first = run_task(given)["plain"]
        before = len(endpoint.calls)
        again = run_task({**given, "use_cache": first.run_dir})["plain"]
        assert len(endpoint.calls) == before
    assert (again.score, again.run_dir, str(again)) == (first.score, first.run_dir, str(first))
    assert first.score == 0.125


def test_two_adapters_of_one_name(tmp_path: Path) -> None:
    """Another file's adapter of the same name is refused, with both files; the same file may be loaded again."""
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text(FILE % "")
    assert find_benchmark(str(tmp_path / "one.py")).name == "filed"
    assert find_benchmark(str(tmp_path / "one.py")).name == "filed"
    with pytest.raises(PluginError, match=r'two adapters are called "filed": .*one.py and .*two.py'):
        find_benchmark(str(tmp_path / "two.py"))


@pytest.mark.parametrize(
    ("meta", "message"),
    [
        ({"metric_list": ["acc", "bleau"]}, 'there is no metric "bleau"; did you mean "bleu"'),
        ({"metric_list": []}, "metric_list is empty"),
        ({"filters": {"regx": {}}}, 'there is no filter "regx"; did you mean "regex"'),
    ],
)
def test_a_meta_that_cannot_be_meant(tmp_path: Path, meta: dict[str, Any], message: str) -> None:
    """It is found when the benchmark is made, before a dataset is read."""
    with pytest.raises(ConfigError, match=message):
        made(tmp_path, **meta)


def test_bad_records_are_bad_rows(tmp_path: Path) -> None:
    """A record that makes no sample costs its own row, tools are not promised, and a class needs its meta."""

    class Odd(Plain):
        def record_to_sample(self, record: dict[str, Any]) -> Any:
            return {"1": None, "2": Sample(input="x", tools=[{}])}.get(record["a"]) or super().record_to_sample(record)

    rows = [{"q": "?"}, ROWS[2], ROWS[3]]
    result, calls = run(tmp_path, made(tmp_path, Odd, rows), lambda *_: answer("3"), args={"limit": 1.0})
    details = [row["outcome"]["detail"] for row in read_results(result.run_dir, "plain")]
    assert "the row has no field 'a'" in details[0]
    assert "an adapter's samples are asked without; @benchmark(tools=...)" in details[1]
    assert (result.exit_code, len(calls)) == (3, 1)
    with pytest.raises(ConfigError, match="Plain has no meta; put @register_benchmark"):
        Plain()
    with pytest.raises(ConfigError, match="is not a registered adapter class"):
        adapt(Plain)


def test_subsets_are_a_dict() -> None:
    """They can be replaced, added and listed as those of any dict."""
    subsets = DatasetDict.from_dataset([Sample(input="a"), Sample(input="b", subset_key="b")])
    subsets["c"] = subsets.pop("b")
    assert isinstance(subsets, dict)
    assert list(subsets) == ["default", "c"]
    assert [sample.input for sample in subsets.datasets["c"]] == ["b"]


@pytest.mark.parametrize(
    ("structure", "fields"),
    [
        (nel.benchmarks.Sample, "input target choices subset_key metadata tools"),
        (nel.benchmarks.TaskState, "model sample messages output completed sample_id group_id metadata"),
        (nel.benchmarks.ModelOutput, "completion message"),
        (nel.benchmarks.Score, "value extracted_prediction prediction metadata"),
        (nel.benchmarks.SampleScore, "score sample_id group_id sample_metadata"),
        (nel.benchmarks.AggScore, "metric value subset num_samples agg_method metadata"),
    ],
)
def test_structures_have_the_fields_of_the_guide(structure: type, fields: str) -> None:
    """EvalScope's guide lists them, and adapters read them."""
    names = {*dir(structure), *(field.name for field in dataclasses.fields(structure))}
    assert {*fields.split()} <= names


def test_structures_are_made_with_the_fields_of_the_guide() -> None:
    """What is not given is that of the sample, or of the other form of the answer."""
    sample = Sample(input="2+2?", target="4", id=7, metadata={"level": 1})
    answer = nel.benchmarks.ChatMessage(role="assistant", content="4")
    output = nel.benchmarks.ModelOutput(message=answer)
    state = nel.benchmarks.TaskState(
        model="m", sample=sample, messages=[answer], output=output, completed=True, sample_id="a", group_id="g"
    )
    assert (output.completion, state.sample_id, state.group_id, state.metadata) == ("4", "a", "g", {"level": 1})
    assert nel.benchmarks.ModelOutput(completion="5").message.content == "5"


def test_an_adapter_without_its_judge_is_told_of_its_metrics() -> None:
    """A run without a judge is refused before anything is sent, with what decides without one."""

    @register_benchmark(BenchmarkMeta(name="judged-alone", dataset_id="rows.jsonl", metric_list=["acc"]))
    class Judged(DefaultDataAdapter):
        def record_to_sample(self, record: dict[str, object]) -> Sample:
            return Sample(input="?", target="!")

    config = RunConfig.model_validate({"benchmarks": ["judged-alone"]})
    with pytest.raises(ConfigError, match=r"or let its metrics decide with args\.judge_strategy=rule"):
        check_judge(config, adapt(Judged, {"judge_strategy": "llm"}), None, {})

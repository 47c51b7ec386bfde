"""Every parameter of `@benchmark` that the published interface has, and what is refused."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.authoring.benchmark import Benchmark
from nel.authoring.fewshot_loading import bind_examples
from nel.byob import ScorerInput, SeedResult, benchmark, scorer
from nel.errors import ConfigError, DatasetError, PromptError
from nel.types import Message
from tests.support.endpoint import answer, scripted
from tests.support.runs import nel as cli
from tests.support.runs import read_results, run_config, write_bench, write_jsonl


def bench(**options: Any) -> Benchmark:
    given = {"name": "b", "dataset": "d.jsonl", "prompt": "{q}", "target_field": "a", **options}

    @benchmark(**given)
    @scorer
    def b(sample: ScorerInput) -> dict:
        """Compare letter by letter."""
        return {"correct": sample.response == sample.target}

    return b


def test_rows_need_no_gold_answer_where_the_benchmark_says_so() -> None:
    """A judge or a program may decide; a gold column that is missing without that is a bad row."""
    row = {"q": "Write a poem."}
    assert bench(target_field=None).sample(row, sample_id="1").target is None
    with pytest.raises(DatasetError, match="name the gold answer's with target_field, None where there is none"):
        bench().sample(row, sample_id="1")


EVERYTHING = '''
from nel.byob import ScorerInput, benchmark, scorer

@benchmark(
    name="My Bench!",
    dataset="data.jsonl",
    prompt="prompt.jinja2",
    target_field="gold",
    endpoint_type="chat",
    system_prompt="You are an expert in {topic}.",
    field_mapping={"src": "question", "meta.topic": "topic"},
    requirements=["nltk"],
    extra={"weight": 0.5},
)
@scorer
def my_bench(sample: ScorerInput) -> dict:
    """One line about it."""
    return {"correct": sample.target.lower() in sample.response.lower(), "weight": sample.config["weight"]}
'''


def test_the_published_parameters_end_to_end(tmp_path: Path) -> None:
    """A file that uses them runs by its path: mapped fields, a template file, a system prompt, configuration."""
    (tmp_path / "bench.py").write_text(EVERYTHING)
    (tmp_path / "prompt.jinja2").write_text("{# a comment #}{% if topic %}[{{ topic }}] {% endif %}{{ question }}")
    write_jsonl(tmp_path / "data.jsonl", [{"src": "2+2?", "gold": "4", "meta": {"topic": "sums"}}])
    with scripted(lambda *_: answer("It is 4."), models=["m"]) as endpoint:
        done = cli(
            "eval", "run", "--bench", "bench.py", "--model-url", endpoint.url, "--model-id", "m",
            "-o", "out", "--run-id", "r", cwd=tmp_path,
        )  # fmt: skip
        sent = endpoint.calls[-1].body["messages"]
    assert done.returncode == 0, done.stderr
    assert sent == [
        {"role": "system", "content": "You are an expert in sums."},
        {"role": "user", "content": "[sums] 2+2?"},
    ]
    (row,) = read_results(tmp_path / "out" / "r", "my-bench")
    assert (row["reward"], row["metadata"]["topic"], row["metadata"]["question"]) == (1.0, "sums", "2+2?")


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("{q}", "format"),
        ("{{q}} {q}", "format"),
        ("{% if q %}{{ q }}{% endif %}", "jinja"),
        ("p.txt", "format"),
        ("p.jinja", "jinja"),
    ],
)
def test_the_kind_of_a_prompt_is_found_out(prompt: str, kind: str, tmp_path: Path, monkeypatch: Any) -> None:
    """Block tags, comments and the ending of a file say Jinja; all else is plain, double braces included."""
    monkeypatch.chdir(tmp_path)
    for name in ("p.txt", "p.md"):
        (tmp_path / name).write_text("{q}")
    for name in ("p.jinja", "p.jinja2"):
        (tmp_path / name).write_text("{{ q }}")
    for role in ("prompt", "system_prompt"):
        template = getattr(bench(**{role: prompt}), role)
        assert template.kind == kind
        assert "why?" in template.render({"q": "why?"})


def test_choices_from_a_nested_field() -> None:
    """choices_field may be dotted, and static choices serve every row."""
    nested = bench(endpoint_type="completions_logprob", choices_field="choices.text")
    assert nested.sample({"q": "q", "a": "B", "choices": {"text": ["x", "y"]}}, sample_id="1").choices == ("x", "y")
    static = bench(endpoint_type="completions_logprob", choices=[" A", " B"])
    assert static.sample({"q": "q", "a": "B"}, sample_id="1").choices == (" A", " B")


def test_a_judge_is_kept_and_asked_by_its_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that names its judge is judged without a flag, its key is looked for first, and a flag's judge wins."""
    judge = {"url": "http://127.0.0.1:9/v1", "model_id": "big", "api_key": "JUDGE_KEY"}
    made = bench(judge=judge, extra={"strict": True})
    assert made.judge == judge
    assert made.extra == {"strict": True, "judge": judge}
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    write_jsonl(tmp_path / "d.jsonl", [{"q": "q", "a": "a"}])
    with scripted(lambda *_: answer("a")) as model, scripted(lambda *_: answer("GRADE: C")) as other:
        path = tmp_path / "bench.py"
        columns = {"prompt": "{q}", "target_field": "a"}
        named = {**judge, "url": other.url}
        write_bench(path, "needs_judge(sample)", dataset="d.jsonl", judge=named, **columns)
        run = run_config(model.url, [str(path)], tmp_path / "out")
        with pytest.raises(ConfigError, match="JUDGE_KEY"):
            nel.evaluate(run)
        assert model.calls == other.calls == []
        monkeypatch.setenv("JUDGE_KEY", "some-key-of-a-judge")
        assert nel.evaluate(run).benchmarks[0].headline["value"] == 1
        assert [call.headers["Authorization"] for call in other.calls] == ["Bearer some-key-of-a-judge"]
        with scripted(lambda *_: answer("GRADE: I")) as flagged:
            panel = [{"url": flagged.url, "model": "flagged"}]
            assert nel.evaluate({**run, "judge": {"panel": panel}}).benchmarks[0].headline["value"] == 0
        assert (len(other.calls), len(flagged.calls)) == (1, 1)


def shuffled(row: dict[str, Any], idx: int, rng: random.Random) -> dict[str, Any]:
    options = list("abcdefgh")
    rng.shuffle(options)
    return {**row, "options": options, "number": idx}


def test_prepare_row_with_number_and_chance() -> None:
    """What a row is given depends on its content alone, and differs from row to row."""
    made = bench(prepare_row=shuffled)
    one, two = {"q": "1", "a": "a"}, {"q": "2", "a": "a"}
    first = made.prepared_fields(one)
    assert made.prepared_fields(two)["options"] != first["options"]
    assert made.prepared_fields(one) == first
    assert first["number"] != made.prepared_fields(two)["number"]
    assert bench(prepare_row=lambda row: {**row, "x": 1}).prepared_fields(one)["x"] == 1
    assert bench(prepare_row=lambda row, idx: {**row, "x": idx}).prepared_fields(one)["x"] == first["number"]
    with pytest.raises(ConfigError, match=r"prepare_row takes 4 parameters; write it as \(row\) or \(row, idx\) or"):
        bench(prepare_row=lambda a, b, c, d: a)
    with pytest.raises(ConfigError, match="prepare_row takes 0 parameters"):
        bench(prepare_row=lambda: {"q": 1})
    assert bench(prepare_row=dict).prepared_fields(one) == one


def test_seed_fn_makes_the_whole_problem() -> None:
    """Prompt, system message or messages, answer and metadata come from the function; a prompt is not needed."""

    def plain(row: dict[str, Any], idx: int) -> SeedResult:
        return SeedResult(prompt=f"Q {row['q']}", expected_answer=row["a"], system="S", metadata={"level": "hard"})

    def messages(row: dict[str, Any]) -> SeedResult:
        said = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]
        return SeedResult(prompt="", expected_answer=1, messages=[*said, {"role": "user", "content": row["q"]}])

    sample = bench(prompt="", seed_fn=plain, category_field="level").sample({"q": "x", "a": "y"}, sample_id="1")
    assert sample.input == (Message(role="system", content="S"), Message(role="user", content="Q x"))
    assert (sample.target, sample.subset, sample.metadata["q"]) == ("y", "hard", "x")
    nothing = bench(prompt="", seed_fn=messages, category_field="level", response_field="said")
    assert nothing.sample({"q": "x", "said": "y"}, sample_id="1").subset is None
    assert nothing.sample({"q": "x", "said": "y"}, sample_id="1").recorded_response == "y"
    with pytest.raises(DatasetError, match='no column "said"'):
        nothing.sample({"q": "x"}, sample_id="1")
    turns = bench(prompt="", seed_fn=messages).sample({"q": "x"}, sample_id="1").input
    assert [turn.content for turn in turns] == ["hi", "ho", "x"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ("text", "returned a str; it must return a SeedResult"),
        (SeedResult(prompt="p", expected_answer=None), "returned no expected_answer"),
        (SeedResult(prompt="p", expected_answer=1, messages=[{"content": "x"}]), "without role and content"),
    ],
)
def test_a_seed_fn_that_makes_no_problem_is_a_bad_row(made: Any, message: str) -> None:
    """What it returned instead is named."""
    with pytest.raises(DatasetError, match=message):
        bench(prompt="", seed_fn=lambda row: made).sample({"q": "x"}, sample_id="1")
    with pytest.raises(DatasetError, match="seed_fn failed: KeyError: 'z'"):
        bench(prompt="", seed_fn=lambda row: row["z"]).sample({"q": "x"}, sample_id="1")


def test_few_shot_examples_have_no_place_in_a_whole_problem() -> None:
    """--num-fewshot on such a benchmark is refused instead of ignored."""
    made = bench(prompt="", seed_fn=lambda row: SeedResult(prompt="p", expected_answer=1), num_fewshot=1)
    with pytest.raises(ConfigError, match="makes whole problems with seed_fn"):
        bind_examples(made)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"name": "!!!"}, ConfigError, "is not a name for a benchmark"),
        ({"endpoint_type": "chats"}, ConfigError, 'endpoint_type "chats" is unknown'),
        ({"prompt": ""}, PromptError, 'template "prompt" is empty'),
        ({"prompt": "gone.jinja2"}, PromptError, "template file gone.jinja2 does not exist"),
        ({"promt": "x"}, ConfigError, 'no parameter "promt"; did you mean "prompt"'),
        ({"strategy": "x"}, ConfigError, 'no parameter "strategy"; what a scorer needs goes into extra'),
        ({"requirements": [""]}, ConfigError, "is not a requirement"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    """Each is found where the benchmark is defined, with the next step."""
    with pytest.raises(error, match=message):
        bench(**options)

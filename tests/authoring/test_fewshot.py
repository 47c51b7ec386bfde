"""Few-shot examples in the prompts of a benchmark: one text or turns, log-likelihoods, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nel.authoring.benchmark import Benchmark
from nel.authoring.fewshot_loading import bind_examples
from nel.byob import ScorerInput, benchmark, scorer
from nel.datasets.fewshot import POOL_ROWS_MAX
from nel.errors import ConfigError, DatasetError, PromptError
from nel.types import Message
from tests.support.runs import write_jsonl

TRAIN = [{"id": f"t{i}", "q": f"q{i}", "a": f"a{i}", "s": "xy"[i % 2]} for i in range(6)]


def bench(**options: Any) -> Benchmark:
    given = {"name": "b", "dataset": "test.jsonl", "prompt": "Q: {q}\nA:", "target_field": "a", **options}

    @benchmark(**given)
    @scorer
    def b(sample: ScorerInput) -> dict:
        return {"correct": True}

    return b


def bound(**options: Any) -> Benchmark:
    return bind_examples(bench(**{"fewshot_dataset": TRAIN, "num_fewshot": 2, **options}))[0]


def asked(made: Benchmark, row: dict[str, Any] | None = None) -> Any:
    return made.sample(row or {"q": "q", "a": "a", "s": "x"}, sample_id="1").input


def test_examples_and_prompt_as_one_text() -> None:
    """Each example is the prompt with its target; an empty line parts them."""
    assert asked(bound()) == "Q: q0\nA: a0\n\nQ: q1\nA: a1\n\nQ: q\nA:"


def test_separator_prefix_preamble_and_templates() -> None:
    """Every part can be worded; the preamble stands there without examples too."""
    options = {
        "preamble": "About {s}.\n",
        "fewshot_prefix": "Examples:\n",
        "fewshot_separator": "\n--\n",
        "fewshot_target_template": "<{a}>",
    }
    assert asked(bound(**options)) == "About x.\nExamples:\nQ: q0\nA: <a0>\n--\nQ: q1\nA: <a1>\n--\nQ: q\nA:"
    assert asked(bound(fewshot_template="{q} is {target}!")) == "q0 is a0!\n\nq1 is a1!\n\nQ: q\nA:"
    assert asked(bench(preamble="About {s}.\n", fewshot_prefix="Examples:\n")) == "About x.\nQ: q\nA:"


def test_examples_as_turns() -> None:
    """A user's message and an assistant's for each example, after the system message."""
    made = bound(fewshot_as_turns=True, system_prompt="Be brief.", preamble="Solve.\n", num_fewshot=1)
    assert asked(made) == (
        Message(role="system", content="Be brief."),
        Message(role="user", content="Solve.\nQ: q0\nA:"),
        Message(role="assistant", content="a0"),
        Message(role="user", content="Q: q\nA:"),
    )
    assert made.protocol == "chat"


def test_seeded_examples_depend_on_content_alone() -> None:
    """Neither the id, nor the order of the source, nor what else is asked changes them; the seed does."""
    row = {"q": "q", "a": "a", "s": "x"}
    made = bound(fewshot_sampler="seeded")
    first = asked(made, row)
    assert asked(made, {**row, "id": 7}) == first
    assert asked(bound(fewshot_sampler="seeded", fewshot_dataset=TRAIN[::-1]), row) == first
    others = {asked(bound(fewshot_sampler="seeded", fewshot_seed=seed), row) for seed in range(20)}
    assert len(others) > 5


@pytest.mark.parametrize("sampler", ["first", "seeded"])
def test_a_sample_is_never_its_own_example(sampler: str, tmp_path: Path) -> None:
    """Examples from the evaluated rows leave the sample out, also under another id, and are noted."""
    write_jsonl(tmp_path / "test.jsonl", TRAIN)
    made, note = bind_examples(bench(num_fewshot=5, fewshot_sampler=sampler), dataset=str(tmp_path / "test.jsonl"))
    assert note is not None
    assert "few-shot examples are rows of" in note
    for row in TRAIN:
        text = asked(made, {**row, "id": "another"})
        assert text.count("Q: ") == 6
        assert text.count(f"Q: {row['q']}\n") == 1


def test_only_examples_with_the_samples_own_value() -> None:
    """With a field that must match, each subject has examples of its own."""
    made = bound(fewshot_match_field="s")
    assert asked(made, {"q": "q", "a": "a", "s": "y"}) == "Q: q1\nA: a1\n\nQ: q3\nA: a3\n\nQ: q\nA:"
    with pytest.raises(DatasetError, match=r'2 few-shot examples are asked for and .* has 0 with s "z"'):
        asked(made, {"q": "q", "a": "a", "s": "z"})


LETTERED = [{"q": f"q{i}", "a": "ABC"[i % 3]} for i in range(4)]


@pytest.mark.parametrize("position", [1, "1"])
def test_a_gold_position_is_shown_as_its_label(position: int | str) -> None:
    """Examples answer with the letter that the prompt asks for, also where a table has the number as a text."""
    shots = [{"q": "q0", "a": position, "options": ["red", "blue"]}]
    made = bound(fewshot_dataset=shots, num_fewshot=1, choices_field="options")
    assert "A: B\n\n" in asked(made, {"q": "q", "a": 0, "options": ["red", "blue"]})


def test_log_likelihood_examples_end_in_the_gold_choice() -> None:
    """BYOB carries the space in the choice, lm-evaluation-harness in the delimiter; the contexts are the same."""
    common = {"endpoint_type": "completions_logprob", "num_fewshot": 2, "fewshot_dataset": LETTERED}
    row = {"q": "q", "a": "C"}
    byob = bound(**common, choices=[" A", " B", " C"])
    harness = bound(**common, choices=["A", "B", "C"], target_delimiter=" ", preamble="About q.\n\n")
    assert asked(byob, row) == "Q: q0\nA: A\n\nQ: q1\nA: B\n\nQ: q\nA:"
    assert asked(harness, row) == "About q.\n\n" + asked(byob, row)


def test_choices_as_contexts() -> None:
    """In winogrande's form the prompt renders each context, and one continuation follows them all."""
    rows = [{"before": "The cat saw the dog and the ", "after": " ran.", "options": ["cat", "dog"], "a": 1}]
    made = bound(
        prompt="{before}{choice}",
        continuation="{after}",
        choices_field="options",
        endpoint_type="completions_logprob",
        num_fewshot=1,
        fewshot_dataset=rows,
    )
    row = {"before": "Ann thanked Bea since ", "after": " had helped.", "options": ["Ann", "Bea"], "a": 1}
    sample = made.sample(row, sample_id="1")
    assert sample.input == "The cat saw the dog and the dog ran.\n\n"
    assert sample.choices == ("Ann thanked Bea since Ann", "Ann thanked Bea since Bea")
    assert sample.continuation == " had helped."


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_fewshot": 7}, r"7 few-shot examples are asked for and .* has 6; ask for fewer with --num-fewshot"),
        (
            {"fewshot_sampler": "fixed", "fewshot_ids": ["t9"]},
            r'list of few-shot examples has no .* the id "t9" among 6',
        ),
        ({"fewshot_sampler": "fixed", "fewshot_ids": ["t1"]}, "2 few-shot examples are asked for and .* has 1"),
        ({"fewshot_dataset": [*TRAIN[:1], {"q": "x", "a": None}]}, r"row 2: the target field \"a\" is null"),
        ({"fewshot_dataset": [{"a": "x"}, *TRAIN]}, r'row 1: template "prompt" needs the field "q"'),
        ({"fewshot_dataset": "nowhere.jsonl"}, "dataset file nowhere.jsonl does not exist"),
        ({"fewshot_split": "train", "fewshot_dataset": "x.jsonl"}, "x.jsonl has no splits"),
    ],
)
def test_unusable_examples_are_refused(options: dict[str, Any], message: str) -> None:
    """Too few, missing or unanswered examples are found when they are bound, which is before anything is sent."""
    with pytest.raises((DatasetError, PromptError), match=message):
        bound(**options)


def test_rows_without_gold_answers_make_no_examples() -> None:
    """An example would show "None" as its answer; a template that names no target shows what it says."""
    with pytest.raises(ConfigError, match="no gold answer that an example could show; name its field"):
        bound(target_field=None)
    assert asked(bound(target_field=None, fewshot_template="{q} is easy")).startswith("q0 is easy")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fewshot_sampler": "random"}, 'fewshot_sampler "random" is unknown; use first, fixed, seeded'),
        ({"fewshot_sampler": "fixed"}, "belong together"),
        ({"fewshot_as_turns": True, "fewshot_template": "{q}"}, "cannot be two turns"),
        ({"fewshot_as_turns": True, "endpoint_type": "completions"}, "need a chat endpoint"),
        ({"fewshot_seperator": "x"}, 'no parameter "fewshot_seperator"; did you mean "fewshot_separator"'),
        ({"continuation": "{a}"}, "continuation= is for log-likelihoods"),
    ],
)
def test_unusable_settings_are_refused(options: dict[str, Any], message: str) -> None:
    """A setting that cannot be meant is refused where the benchmark is defined."""
    with pytest.raises(ConfigError, match=message):
        bench(**options)


def test_no_more_rows_are_held_than_the_cap() -> None:
    """The source may be endless; so many of its rows are drawn from."""

    def endless() -> Any:
        i = 0
        while True:
            i += 1
            yield {"q": str(i), "a": "x"}

    made = bound(fewshot_dataset=endless, fewshot_sampler="seeded")
    assert made.shots is not None
    assert sum(len(pool.shots) for pool in made.shots.pools.values()) == POOL_ROWS_MAX

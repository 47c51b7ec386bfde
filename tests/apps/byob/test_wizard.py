"""`nel byob new`: what it proposes for rows of each kind, what it writes, and how it asks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nel.apps.byob.wizard.proposals import KINDS, propose, propose_kind, propose_targets
from nel.apps.byob.wizard.table import read_table
from nel.apps.byob.wizard.writing import SCORERS, Draft, file_of, file_text, plain_name, write_new
from nel.discovery.benchmark_checks import check_file
from nel.errors import ConfigError, OutputError
from tests.support.endpoint import answer, scripted
from tests.support.runs import nel, only_run, read_results, write_jsonl

LETTERS = {"q": "Nearest to the Sun?", "opa": "Venus", "opb": "Mercury", "opc": "Mars", "opd": "Earth", "cop": 1}


def proposed(folder: Path, rows: list[dict[str, Any]], about: str = "") -> tuple[str, Any]:
    """Return the target column and the proposal for some rows."""
    table = read_table(str(write_jsonl(folder / "rows.jsonl", rows)))
    (target,) = propose_targets(table)
    return target, propose(table, target=target, kind=propose_kind(table, target, about))


@pytest.mark.parametrize(
    ("rows", "target", "kind", "scorer"),
    [
        ([{"problem": "1 + 1?", "answer": "2"}, {"problem": "2 * 700?", "answer": "1,400"}], "answer", "math",
         "numeric_match"),
        ([{"question": "1 + 1?", "answer": "1 + 1 = 2\n#### 2"}], "answer", "math", "gsm8k_answer"),
        ([{"question": "?", "choices": ["a", "b"], "answerKey": "A"}], "answerKey", "multiple-choice",
         "mcq_letter_extract"),
        ([{"question": "?", "choices": {"text": ["a", "b"], "label": ["1", "2"]}, "answerKey": "2"}], "answerKey",
         "multiple-choice", "mcq_letter_extract"),
        ([{"question": "?", "choices": "['a' 'b']", "label": 0}, {"question": "??", "choices": "['c' 'd']", "label": 1}],
         "label", "multiple-choice", "mcq_letter_extract"),
        ([{"question": "Capital?", "answers": "['Rome', 'Roma']"}], "answers", "short-answer", "answer_line"),
        ([LETTERS], "cop", "multiple-choice", "mcq_letter_extract"),
        ([{"passage": "It rains.", "question": "Is it wet?", "answer": "yes"}], "answer", "yes-no", "boolean_yesno"),
        ([{"question": "Is it wet?", "answer": "Y"}, {"question": "Dry?", "answer": "N"}], "answer", "yes-no", "boolean_yesno"),
        ([{"text": f"text {n}", "label": ["billing", "bug"][n % 2]} for n in range(8)], "label", "classification",
         "answer_line"),
        ([{"source": "Hallo", "translation": "Hello there"}], "translation", "translation", "chrf"),
        ([{"country": "France", "Réponse attendue": "Paris"}], "Réponse attendue", "short-answer", "answer_line"),
        ([{"question": "Why?", "reference": "Because the sky scatters blue light more than red light."}], "reference",
         "long-answer", "f1_token"),
    ],
)  # fmt: skip
def test_rows_of_each_kind_are_recognised_and_work(
    tmp_path: Path, rows: list[dict[str, Any]], target: str, kind: str, scorer: str
) -> None:
    """Column, kind and scorer are proposed by names and values, and the file that is written passes every check."""
    found, proposal = proposed(tmp_path, rows)
    assert (found, proposal.kind, proposal.scorer) == (target, kind, scorer)
    draft = Draft(
        name="mine", description="mine", dataset=str(tmp_path / "rows.jsonl"), prompt=proposal.prompt,
        target_field=found, scorer=proposal.scorer, field_mapping=proposal.field_mapping,
        choices_field=proposal.choices_field, list_fields=proposal.list_fields, category_field=proposal.category_field,
    )  # fmt: skip
    write_new(tmp_path / "mine.py", file_text(draft, tmp_path / "mine.py"))
    assert [check for check in check_file(tmp_path / "mine.py")["mine"] if not check.passed] == []


@pytest.mark.parametrize("scorer", SCORERS)
def test_a_file_with_any_scorer_can_be_loaded(tmp_path: Path, scorer: str) -> None:
    """Each name that is offered can be imported, and hostile texts stay texts."""
    write_jsonl(tmp_path / "rows.jsonl", [{"it's": "1 + 1?", "answer": "2"}])
    hostile = 'it\'s """ {{x}} \\ \n'
    draft = Draft(
        name="mine", description=hostile, dataset="rows.jsonl", prompt=hostile, target_field="answer", scorer=scorer
    )
    write_new(tmp_path / "mine.py", file_text(draft, tmp_path / "mine.py"))
    assert "mine" in check_file(tmp_path / "mine.py")


def test_nothing_is_overwritten_and_names_are_folded(tmp_path: Path) -> None:
    """A file that is there stays; a name is folded, or refused where nothing is left."""
    (tmp_path / "mine.py").write_text("mine")
    with pytest.raises(OutputError, match="is there already; choose another file with --output"):
        write_new(tmp_path / "mine.py", "x")
    assert (tmp_path / "mine.py").read_text() == "mine"
    assert plain_name(" My Bench! ") == "my-bench"
    with pytest.raises(ConfigError, match="not a name for a benchmark"):
        plain_name("!?")


def test_a_benchmark_does_not_take_the_name_of_a_module() -> None:
    """Python run in its directory would import statistics.py in the place of its own module."""
    assert file_of("statistics", None) == Path("statistics_benchmark.py")
    assert file_of("my-quiz", None) == Path("my_quiz.py")
    with pytest.raises(ConfigError, match=r"place of the module json .*--output sub/json_benchmark\.py"):
        file_of("quiz", Path("sub/json.py"))


def test_unknown_kinds_and_columns_are_named(tmp_path: Path) -> None:
    """A slip in a flag is answered with the nearest word."""
    table = read_table(str(write_jsonl(tmp_path / "rows.jsonl", [{"question": "?", "answer": "x"}])))
    with pytest.raises(ConfigError, match=f'no kind "maths"; did you mean "math".; known: {", ".join(KINDS)}'):
        propose(table, target="answer", kind="maths")
    with pytest.raises(ConfigError, match='no column "anwser"; did you mean "answer"'):
        propose(table, target="anwser", kind="math")
    with pytest.raises(ConfigError, match="no options are found"):
        propose(table, target="answer", kind="multiple-choice")


def test_from_a_csv_to_a_score_by_answering_questions(tmp_path: Path) -> None:
    """The five steps are shown with the first three rows, and the file that they end in runs against a server."""
    rows = "".join(f"{n} + {n}?,{2 * n}\n" for n in range(1, 6))
    (tmp_path / "sums.csv").write_text("question,answer\n" + rows)
    answers = [
        "sums of two numbers",
        "my sums",
        "sms.csv",
        "sums.csv",
        "anwser",
        "answer",
        "maths",
        "math",
        "",
        "",
        "n",
    ]
    done = nel("byob", "new", cwd=tmp_path, stdin="\n".join(answers) + "\n")
    assert done.returncode == 0, done.stderr
    steps = [line.split("]")[0] for line in done.stdout.splitlines() if line.startswith("[Step")]
    assert steps == [
        "[Step 1/5: Understand", "[Step 2/5: Data", "[Step 3/5: Prompt", "[Step 4/5: Score", "[Step 5/5: Ship",
    ]  # fmt: skip
    for slip in ('did you mean "sums.csv"', 'did you mean "answer"', 'did you mean "math"'):
        assert slip in done.stdout
    assert "5 rows with question, answer" in done.stdout
    assert "3. question=3 + 3?  answer=6" in done.stdout
    assert "4. question=" not in done.stdout
    assert "nel eval run --bench ./my_sums.py" in done.stdout
    with scripted(lambda call, _: answer("Answer: 4")) as endpoint:
        flags = ("--model-url", endpoint.url, "--model-id", "m")
        run = nel("eval", "run", "--bench", "./my_sums.py", *flags, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    rewards = [row["reward"] for row in read_results(only_run(tmp_path / "eval_results"), "my-sums")]
    assert sum(rewards) == 1.0


def test_a_key_of_an_object_is_a_gold_answer_and_texts_that_are_left_out_are_named(tmp_path: Path) -> None:
    """TriviaQA's aliases stand below `answer`; COPA's premise is not the question by its name."""
    trivia = {"question": "Who?", "answer": {"value": "Rome", "aliases": ["Rome", "Roma"]}, "premise": "It fell."}
    table = read_table(str(write_jsonl(tmp_path / "rows.jsonl", [trivia])))
    for target in ("answer.aliases", "answer.value"):
        assert propose(table, target=target, kind=propose_kind(table, target)).kind == "short-answer"
    done = nel("byob", "new", "rows.jsonl", "--yes", "--target", "answer.aliases", cwd=tmp_path)
    assert (done.returncode, "it leaves out {premise}; --prompt takes" in done.stdout) == (0, True)


def test_with_flags_nothing_is_asked(tmp_path: Path) -> None:
    """Rows, target and scorer are enough; the prompt's \\n is a new line."""
    (tmp_path / "rows.json").write_text(json.dumps([{"q": "1 + 1?", "a": "2"}]))
    flags = ("--target", "a", "--scorer", "exact_match", "--prompt", "{q}\\nAnswer:", "--name", "mine", "-o", "m.py")
    done = nel("byob", "new", "rows.json", *flags, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert '        "{q}\\n"\n        "Answer:"\n' in (tmp_path / "m.py").read_text()
    assert "from nel.byob.scorers import exact_match" in (tmp_path / "m.py").read_text()


def test_numbers_of_classes_need_a_prompt_that_says_what_they_mean(tmp_path: Path) -> None:
    """Labels 0 and 1 are no arithmetic: nothing is drafted that asks for a number without its meaning."""
    write_jsonl(tmp_path / "films.jsonl", [{"sentence": f"film {n}", "label": n % 2} for n in range(8)])
    draft = ("byob", "new", "films.jsonl", "--yes", "-o", "films.py")
    done = nel(*draft, cwd=tmp_path)
    assert (done.returncode, (tmp_path / "films.py").exists()) == (2, False)
    assert 'the numbers in the column "label" (0, 1) stand for classes; give --prompt' in done.stderr
    assert nel(*draft, "--prompt", "Good (1) or bad (0)? {sentence}", cwd=tmp_path).returncode == 0
    assert "answer_line(sample)" in (tmp_path / "films.py").read_text()


def test_a_question_without_an_answer_says_which_flags_to_give(tmp_path: Path) -> None:
    """In a pipe that ends, the command stops with the way out instead of waiting or guessing."""
    done = nel("byob", "new", cwd=tmp_path)
    assert done.returncode == 2
    assert "give DATA, --target and --scorer, or --yes" in done.stderr
    done = nel("byob", "new", "rows.csv", "--target", "a", "--scorer", "exat_match", cwd=tmp_path)
    assert done.returncode == 2
    done = nel("byob", "new", "--yes", cwd=tmp_path)
    assert "nel byob new DATA --yes" in done.stderr


@pytest.mark.parametrize(("output", "message"), [("json.py", "the module json"), ("mine.py", "is there already")])
def test_a_file_that_cannot_be_written_is_refused_before_the_first_question(
    tmp_path: Path, output: str, message: str
) -> None:
    """Answers that would be lost are not asked for."""
    (tmp_path / "mine.py").write_text("mine")
    done = nel("byob", "new", "-o", output, cwd=tmp_path)
    assert done.returncode != 0
    assert message in done.stderr
    assert done.stdout == ""


def test_a_file_that_fails_its_checks_is_kept_to_be_corrected(tmp_path: Path) -> None:
    """A prompt with a wrong field is found by the wizard itself, and the exit code says so."""
    write_jsonl(tmp_path / "rows.jsonl", [{"question": "1 + 1?", "answer": "2"}])
    done = nel("byob", "new", "rows.jsonl", "--yes", "--prompt", "{questoin}", "--name", "m", cwd=tmp_path)
    assert done.returncode == 2
    assert "fix m.py, then: nel byob validate m.py" in done.stderr


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"question": "?", "capital": "Paris", "source": "an atlas"}], "no column of rows.jsonl is the gold answer"),
        ([{"question": "?", "answer": "Paris", "reference": "p. 3"}], "answer and reference may each be the gold"),
        ([{"shape": "a1", "kind": "b2", "answer": "Paris"}, {"shape": "a2", "kind": "b3", "answer": "Rome"}],
         "no column is the question by its name; give --prompt"),
        ([{"question": "?", "__expected": "icontains:Paris"}], "holds assertions of promptfoo, such as 'icontains:Paris'"),
    ],
)  # fmt: skip
def test_what_names_do_not_tell_is_not_guessed(tmp_path: Path, rows: list[dict[str, Any]], message: str) -> None:
    """With --yes a table whose columns do not say what they are is refused with the flag that says it."""
    write_jsonl(tmp_path / "rows.jsonl", rows)
    done = nel("byob", "new", "rows.jsonl", "--yes", cwd=tmp_path)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "rows.py").exists()

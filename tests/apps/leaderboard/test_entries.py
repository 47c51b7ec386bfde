"""Finished runs as entries: made over HTTP, compared by identity, and refused by the fields that differ."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from nel.apps.leaderboard.entries import read_entries
from nel.apps.leaderboard.pair_rows import pair_rows
from nel.apps.leaderboard.pairing import AnswerPair
from nel.core.strict_json import dumps, loads
from nel.errors import ConfigError
from nel.runs.evaluation import evaluate
from tests.support.endpoint import Reply, answer
from tests.support.leaderboards import finished_run, recorded_run, word, write_bench
from tests.support.runs import write_jsonl


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return runs of good and bad models on one benchmark of six questions."""
    root = tmp_path_factory.mktemp("runs")
    bench = write_bench(root / "bench", n=6)

    def troubled(number: int, _: int) -> Reply:
        return {
            0: answer("cut of", finish="length"),
            1: answer(""),
            2: Reply(status=500, body={"error": {"message": "broken"}}),
            3: answer("no number here"),
        }.get(number, answer(f"fine {number}"))

    return {
        "short": finished_run(root, bench, "short", word("yes")),
        "long": finished_run(root, bench, "long", word("certainly")),
        "troubled": finished_run(root, bench, "troubled", troubled),
        "bench": bench,
    }


def test_entries_hold_answers_failures_and_what_is_missing(runs: dict[str, Path]) -> None:
    """Truncated and empty answers failed, a server error is missing, a wrong answer is an answer."""
    short, troubled = read_entries([str(runs["short"]), str(runs["troubled"])], None)
    assert (short.label, troubled.label, short.benchmark) == ("short", "troubled", "talk")
    (row,) = pair_rows([short, troubled], [AnswerPair(("q4", 0), "short", "troubled")])
    assert (row["response"], row["baseline"]) == ("yes 4", "fine 4")
    assert (row["question"], row["reference"]) == ("Q4: Say 4.", "4")
    assert [troubled.answers[f"q{number}", 0].failure for number in range(6)] == ["truncated", "empty"] + [None] * 4
    assert [troubled.answers[f"q{number}", 0].missing for number in range(4)] == [
        None, None, "infra:server_error", None,
    ]  # fmt: skip
    (row,) = pair_rows([short, troubled], [AnswerPair(("q3", 0), "troubled", "short")])
    assert (row["response"], row["baseline"]) == ("no number here", "yes 3")


def test_a_run_can_be_given_another_name(runs: dict[str, Path], tmp_path: Path) -> None:
    """Two runs of one model need names of their own; a path with an equals sign stays a path."""
    other = finished_run(tmp_path, runs["bench"], "short", word("no"))
    with pytest.raises(ConfigError, match='two runs are called "short"; give each a name of its own with NAME=DIR'):
        read_entries([str(runs["short"]), str(other)], None)
    first, second = read_entries([f"now={runs['short']}", f"then={other}"], None)
    assert (first.label, second.label) == ("now", "then")
    odd = runs["short"].parent / "a=b"
    odd.symlink_to(runs["long"])
    assert read_entries([str(odd), str(runs["short"])], None)[0].label == "long"
    with pytest.raises(ConfigError, match='has an empty name before "="'):
        read_entries([f"={runs['short']}", str(runs["long"])], None)


def test_runs_of_different_benchmarks_are_refused(runs: dict[str, Path], tmp_path: Path) -> None:
    """The message names what each has; a benchmark that one lacks is named too."""
    other = finished_run(tmp_path, write_bench(tmp_path / "b", n=6, name="chat"), "other", word("no"))
    with pytest.raises(ConfigError, match=r"no benchmark in common \(short: talk; other: chat\)"):
        read_entries([str(runs["short"]), str(other)], None)
    with pytest.raises(ConfigError, match='has no benchmark "talk"; it has: chat'):
        read_entries([str(runs["short"]), str(other)], "talk")


def test_another_dataset_is_refused_with_the_fields_that_differ(runs: dict[str, Path], tmp_path: Path) -> None:
    """The same name does not make it the same questions."""
    other = finished_run(tmp_path, write_bench(tmp_path / "b", n=6, prompt_tail=" Please."), "other", word("no"))
    with pytest.raises(ConfigError, match=r"short and other were not asked the same \(dataset.sha256: .*prompt.sha256"):
        read_entries([str(runs["short"]), str(other)], None)


def test_recorded_answers_are_compared_by_their_questions(runs: dict[str, Path], tmp_path: Path) -> None:
    """Files with other answers have other digests; what must agree is each question, and the message names one."""
    first, second, third = (
        recorded_run(tmp_path, runs["bench"], name, lambda i, text=text: f"{text} {i}", range(4), tail=tail)
        for name, text, tail in (("x", "ja", ""), ("y", "jawohl", ""), ("z", "nein", " Now."))
    )
    entries = read_entries([str(first), f"why={second}"], None)
    assert [entry.label for entry in entries] == ["x", "why"]
    (row,) = pair_rows(entries, [AnswerPair(("q2", 0), "why", "x")])
    assert (row["response"], row["baseline"]) == ("jawohl 2", "ja 2")
    with pytest.raises(ConfigError, match='different questions or gold answers as sample "q0"'):
        read_entries([str(first), str(third)], None)


def test_several_benchmarks_in_common_need_a_choice(runs: dict[str, Path], tmp_path: Path) -> None:
    """--bench says which."""
    rows = [{"id": "q0", "number": 0, "question": "Say 0.", "answer": "0", "said": "0"}]
    entry = {
        "name": str(runs["bench"]),
        "dataset": str(write_jsonl(tmp_path / "a.jsonl", rows)),
        "response_field": "said",
    }
    directories = []
    for name in ("a", "b"):
        config = {"benchmarks": [entry, entry], "output": {"dir": str(tmp_path), "run_id": name}}
        directories.append(str(evaluate(config).run_dir))
    with pytest.raises(ConfigError, match=r"several benchmarks in common \(talk, talk@2\); choose one with --bench"):
        read_entries(directories, None)
    assert len(read_entries(directories, "talk@2")) == 2


def test_a_ranking_of_choices_has_no_answers_to_compare(runs: dict[str, Path], tmp_path: Path) -> None:
    """Log-likelihood benchmarks choose; they do not answer. The stored identity says so."""
    copies = []
    for name in ("short", "long"):
        copy = tmp_path / name
        copy.mkdir()
        (copy / "run.db").write_bytes((runs[name] / "run.db").read_bytes())
        with closing(sqlite3.connect(copy / "run.db")) as connection, connection:
            ((key, plan),) = connection.execute("SELECT id, plan FROM benchmarks").fetchall()
            changed = loads(plan)
            changed["identity"]["loglikelihood"] = {"delimiter": " "}
            connection.execute("UPDATE benchmarks SET plan = ? WHERE id = ?", (dumps(changed), key))
        copies.append(str(copy))
    with pytest.raises(ConfigError, match="log-likelihood"):
        read_entries(copies, None)


@pytest.mark.parametrize(("gold", "reference"), [(None, ""), (["Rome", "Roma"], "Rome\nRoma")])
def test_a_judge_of_pairs_reads_a_gold_answer_as_other_judges_do(tmp_path: Path, gold: object, reference: str) -> None:
    """A row without a gold answer has no reference, and several answers are a line each: `null` was shown as one."""
    rows = [{"id": f"q{i}", "question": "Where?", "gold": gold, "said": "Rome"} for i in range(2)]
    write_jsonl(tmp_path / "rows.jsonl", rows)
    bench = {"prompt": "{question}", "checks": [{"contains": "Rome"}], "dataset": "rows.jsonl", "id_field": "id"}
    (tmp_path / "city.yaml").write_text(dumps(bench if gold is None else bench | {"target_field": "gold"}))
    names = ("a", "b")
    for name in names:
        entry = {"name": str(tmp_path / "city.yaml"), "response_field": "said"}
        evaluate({"benchmarks": [entry], "output": {"dir": str(tmp_path), "run_id": name}})
    entries = read_entries([f"{name}={tmp_path / name}" for name in names], None)
    (row,) = pair_rows(entries, [AnswerPair(("q0", 0), *names)])
    assert row["reference"] == reference

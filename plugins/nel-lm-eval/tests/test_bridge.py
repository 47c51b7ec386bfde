"""A task run through nel asks and counts as lm_eval does itself, and what cannot be run is refused with a reason."""

from __future__ import annotations

import json
import string
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lm_eval_tasks import TASKS, write_group, write_tasks
from nel_lm_eval.bridge import Address, open_task, parse_address

from nel import NelError, evaluate
from nel.errors import ConfigError, DatasetError
from nel.runs.evaluation import rescore

sys.path.insert(0, str(Path(__file__).parents[3]))
from tests.support.endpoint import Call, Endpoint, scripted
from tests.support.letters import letters
from tests.support.lm_eval import prompts_of, read_samples

PROBED = ("The capital of France", "Monday, Tuesday", "Grüße")


@pytest.fixture
def lm_eval(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the harness, without a hub, or skip."""
    for name, value in {
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "OPENAI_API_KEY": "none",
    }.items():
        monkeypatch.setenv(name, value)
    return pytest.importorskip(
        "lm_eval", reason="lm_eval is not installed: pip install 'lm_eval[api]'"
    )


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """Serve the scripted model."""
    with scripted(letters, models=["letters"]) as served:
        yield served


@pytest.fixture(scope="session")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a tokenizer of single characters, which the harness needs to rank choices."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    from tokenizers import Tokenizer, decoders, models  # noqa: PLC0415 - comes with transformers

    known = sorted(
        set(string.printable) | set(json.dumps(list(TASKS.values()), ensure_ascii=False))
    )
    built = Tokenizer(
        models.BPE(
            vocab={letter: place for place, letter in enumerate([*known, "<eos>"])}, merges=[]
        )
    )
    built.decoder = decoders.Fuse()
    folder = str(tmp_path_factory.mktemp("tokenizer"))
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=built,
        eos_token="<eos>",  # noqa: S106 - a token of a text
        clean_up_tokenization_spaces=False,
    ).save_pretrained(folder)
    return folder


def _run(folder: Path, url: str, name: str, *, query: str = "", **more: Any) -> Any:
    uri = f"lm-eval://{name}?include_path={folder}{query}"
    config = {
        "endpoint": {"url": url, "model": "letters"},
        "benchmarks": [{"name": uri, **more}],
        "output": {"dir": str(folder / "out")},
    }
    return evaluate(config)


def _harness(folder: Path, url: str, name: str, tokenizer: str | None, **options: Any) -> Any:
    from lm_eval import simple_evaluate  # noqa: PLC0415 - the fixture skips where it is not there
    from lm_eval.tasks import TaskManager  # noqa: PLC0415 - as above

    arguments: dict[str, Any] = {"model": "letters", "base_url": f"{url}/chat/completions"}
    kind = "local-chat-completions"
    if tokenizer is not None:
        kind = "local-completions"
        arguments |= {
            "base_url": f"{url}/completions",
            "tokenizer": tokenizer,
            "tokenized_requests": False,
        }
        arguments |= {"max_length": 100_000, "tokenizer_backend": "huggingface"}
    manager = TaskManager(include_path=str(folder), include_defaults=False)
    found = simple_evaluate(
        kind, arguments, [name], task_manager=manager, bootstrap_iters=0, **options
    )
    if name not in found["samples"]:
        return found
    return sorted(found["samples"][name], key=lambda one: one["doc_id"])


def _sent(calls: list[Call]) -> Counter[str]:
    texts = [
        json.dumps(call.body["messages"], sort_keys=True)
        for call in calls
        if "messages" in call.body
    ]
    texts += [text for call in calls if "prompt" in call.body for text in prompts_of(call)]
    return Counter(text for text in texts if not text.startswith(PROBED))


@pytest.mark.usefixtures("lm_eval")
def test_a_generated_task_is_asked_and_counted_as_by_the_harness(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    """The same turns with the same drawn examples, the same settings, and both filters' verdict on each sample."""
    write_tasks(tmp_path, "sums")
    theirs = _harness(tmp_path, endpoint.url, "sums", None, apply_chat_template=True)
    asked = len(endpoint.calls)
    result = _run(tmp_path, endpoint.url, "sums", query="&apply_chat_template=true")
    assert result.exit_code == 0
    assert _sent(endpoint.calls[:asked]) == _sent(endpoint.calls[asked:])
    first, last = endpoint.calls[0].body, endpoint.calls[-1].body
    assert {key: last[key] for key in ("stop", "max_tokens", "temperature")} == {
        key: first[key] for key in ("stop", "max_tokens", "temperature")
    }
    ours = [line["scoring_details"]["metrics"] for line in read_samples(result.run_dir)]
    for filter_name in ("strict-match", "flexible-extract"):
        known = [one["exact_match"] for one in theirs if one["filter"] == filter_name]
        assert [metrics[f"exact_match_{filter_name}"] for metrics in ours] == known
        assert len(known) == len(TASKS["sums"][1])


@pytest.mark.usefixtures("lm_eval")
@pytest.mark.parametrize("name", ["shapes", "blanks", "last_word"])
def test_a_ranked_task_is_asked_and_counted_as_by_the_harness(
    tmp_path: Path, endpoint: Endpoint, tokenizer: str, name: str
) -> None:
    """Choices after one context, contexts before one continuation, and a single continuation."""
    write_tasks(tmp_path, name)
    theirs = _harness(tmp_path, endpoint.url, name, tokenizer)
    asked = len(endpoint.calls)
    result = _run(tmp_path, endpoint.url, name)
    assert result.exit_code == 0
    assert _sent(endpoint.calls[:asked]) == _sent(endpoint.calls[asked:])
    ours = read_samples(result.run_dir)
    assert len(ours) == len(theirs) == len(TASKS[name][1])
    for line, one in zip(ours, theirs, strict=True):
        metrics = line["scoring_details"]["metrics"]
        assert metrics == {key: one[key] for key in ("acc", "acc_norm") if key in one}
        assert line["sums"] == pytest.approx(
            [float(answer[0][0]) for answer in one["resps"]], abs=1e-9
        )


@pytest.mark.usefixtures("lm_eval")
def test_a_group_is_asked_and_counted_as_by_the_harness(tmp_path: Path, endpoint: Endpoint) -> None:
    """All tasks, with the settings that the group gives them, and the means of each group by its own weights; a mean
    of fewer tasks than the group has says so, and BLEU, chrF and TER are those of the harness.
    """
    write_group(tmp_path)
    theirs = _harness(tmp_path, endpoint.url, "all_sums", None, apply_chat_template=True)
    asked = len(endpoint.calls)
    result = _run(tmp_path, endpoint.url, "all_sums", query="&apply_chat_template=true")
    assert result.exit_code == 0
    assert _sent(endpoint.calls[:asked]) == _sent(endpoint.calls[asked:])
    means = {(row["aggregate"], row["name"]): row["value"] for row in result.aggregates}
    whole, nested = theirs["groups"]["all_sums"], theirs["groups"]["all_sums::nested"]
    assert means == pytest.approx(
        {
            ("all sums (3 of 4 tasks)", "exact_match_flexible-extract"): whole[
                "exact_match,flexible-extract"
            ],
            ("all sums (3 of 4 tasks)", "exact_match_strict-match"): whole[
                "exact_match,strict-match"
            ],
            ("all sums (1 of 4 tasks)", "bleu"): whole["bleu,none"],
            ("within", "exact_match_strict-match"): nested["exact_match,strict-match"],
        }
    )
    assert [row["reason"] for row in result.aggregates if row["name"] == "bleu"] == [
        "bleu of lm-eval-translations is not a mean of single questions from 0 to 1"
    ]
    translations = next(item for item in result.benchmarks if item.name == "lm-eval-translations")
    rows = {row["name"]: row["value"] for row in translations.metrics["metrics"]}
    corpus = {
        name: theirs["results"]["translations"][f"{name},none"] for name in ("bleu", "chrf", "ter")
    }
    assert {name: rows[name] for name in corpus} == pytest.approx(corpus)


@pytest.mark.usefixtures("lm_eval")
def test_members_that_cannot_be_run_are_named_with_the_way_round(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    """Nothing is sent while a member would be missing; what is left out by name is named in the mean's title."""
    write_group(tmp_path, "thrice", "rolling")
    with pytest.raises(
        ConfigError, match=r"2 of the 6 members of all_sums: .*without=thrice,rolling"
    ):
        _run(tmp_path, endpoint.url, "all_sums")
    with pytest.raises(ConfigError, match="all_sums has no member trice; did you mean"):
        _run(tmp_path, endpoint.url, "all_sums", query="&without=trice")
    assert endpoint.calls == []
    result = _run(tmp_path, endpoint.url, "all_sums", query="&without=thrice,rolling")
    titles = {row["aggregate"] for row in result.aggregates}
    assert "all sums without thrice, rolling (3 of 4 tasks)" in titles
    assert len(result.benchmarks) == 4


@pytest.mark.usefixtures("lm_eval")
def test_a_text_task_takes_its_shots_from_the_address(tmp_path: Path, endpoint: Endpoint) -> None:
    """Without turns all stands in one message; the number of examples and a run's own settings go before the task's."""
    write_tasks(tmp_path, "sums")
    result = _run(
        tmp_path, endpoint.url, "sums", query="&num_fewshot=1", generation={"max_tokens": 7}
    )
    assert result.exit_code == 0
    (message,) = endpoint.calls[-1].body["messages"]
    assert message["content"].count("Question:") == 2
    assert (endpoint.calls[-1].body["max_tokens"], endpoint.calls[-1].body["stop"]) == (
        7,
        ["Question:"],
    )


@pytest.mark.usefixtures("lm_eval")
def test_a_task_that_sets_an_alarm_is_counted(tmp_path: Path, endpoint: Endpoint) -> None:
    """Tasks of mathematics bound their parser by a signal, which Python has in the main thread alone."""
    write_tasks(tmp_path, "alarms")
    result = _run(tmp_path, endpoint.url, "alarms")
    assert result.exit_code == 0
    assert result.benchmarks[0].accounting["n_scored"] == len(TASKS["alarms"][1])


@pytest.mark.usefixtures("lm_eval")
def test_recorded_answers_are_counted_and_nothing_is_asked(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    """The field of the task's rows is the answer; what ranks choices has none."""
    write_tasks(tmp_path, "sums")
    result = _run(tmp_path, endpoint.url, "sums", response_field="question")
    lines = read_samples(result.run_dir)
    assert endpoint.calls == []
    assert all(line["model_response"] for line in lines)
    write_tasks(tmp_path, "shapes")
    with pytest.raises(NelError, match="ranks choices"):
        _run(tmp_path, endpoint.url, "shapes", response_field="question")


@pytest.mark.usefixtures("lm_eval")
def test_a_run_is_scored_anew_without_a_request(tmp_path: Path, endpoint: Endpoint) -> None:
    """Stored answers are counted by the task again, and come to the same."""
    write_tasks(tmp_path, "sums")
    result = _run(tmp_path, endpoint.url, "sums")
    before, asked = read_samples(result.run_dir), len(endpoint.calls)
    again = rescore(result.run_dir)
    assert again.exit_code == 0
    assert len(endpoint.calls) == asked
    assert [line["reward"] for line in read_samples(again.run_dir)] == [
        line["reward"] for line in before
    ]


@pytest.mark.usefixtures("lm_eval")
@pytest.mark.parametrize(
    ("name", "query", "error", "message"),
    [
        (
            "rolling",
            "",
            ConfigError,
            "asks for loglikelihood_rolling; nel can run tasks of the kinds",
        ),
        ("thrice", "", ConfigError, "asks each question 3 times"),
        ("programs", "", ConfigError, "runs the model's programs on this machine"),
        ("corpus", "", ConfigError, "has no metric that is a mean over samples, only bleu"),
        ("errors", "", ConfigError, "scored by exact_match, of which less is better"),
        ("shapes", "&apply_chat_template=true", ConfigError, "a chat endpoint cannot do"),
        (
            "hellaswagg",
            "",
            ConfigError,
            'lm_eval has no task "hellaswagg"; did you mean "hellaswag"',
        ),
    ],
)
def test_what_cannot_be_run_is_refused(
    tmp_path: Path, name: str, query: str, error: type[NelError], message: str
) -> None:
    """Before anything is sent, with the reason and the next step."""
    write_tasks(tmp_path, "sums", *([name] if name in TASKS else []))
    with pytest.raises(error, match=message):
        open_task(f"lm-eval://{name}?include_path={tmp_path}{query}")


@pytest.mark.usefixtures("lm_eval")
def test_a_request_without_context_and_examples_by_flag_are_refused(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    """An endpoint cannot say how likely a text is after nothing; examples are the task's own affair."""
    write_tasks(tmp_path, "bare", "sums")
    with pytest.raises(DatasetError, match=r"nothing in front of it; .* prefix_token="):
        _run(tmp_path, endpoint.url, "bare")
    with pytest.raises(ConfigError, match="num_fewshot=N"):
        _run(tmp_path, endpoint.url, "sums", num_fewshot=2)
    assert _sent(endpoint.calls) == Counter()


@pytest.mark.usefixtures("lm_eval")
def test_a_metric_of_which_less_is_better_is_named(tmp_path: Path, endpoint: Endpoint) -> None:
    """Comparisons go by what metrics.json says of each metric."""
    write_tasks(tmp_path, "bias")
    result = _run(tmp_path, endpoint.url, "bias")
    assert result.benchmarks[0].metrics["lower_is_better"] == ["acc"]


@pytest.mark.usefixtures("lm_eval")
def test_a_corpus_metric_beside_a_mean_is_named_as_left_out(tmp_path: Path) -> None:
    """What is not a mean over samples is not counted, and the description says so."""
    write_tasks(tmp_path, "last_word")
    found = open_task(f"lm-eval://last_word?include_path={tmp_path}")
    assert "without perplexity" in found.description
    assert (found.name, found.loglikelihood, found.protocol) == (
        "lm-eval-last_word",
        True,
        "completions",
    )


def test_an_address_is_read_without_the_harness() -> None:
    """Task, examples, folder and turns."""
    assert parse_address(
        "lm-eval://mmlu_anatomy?num_fewshot=5&apply_chat_template=True"
    ) == Address(task="mmlu_anatomy", num_fewshot=5, apply_chat_template=True)


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("lm-eval://", "names no task"),
        ("lm-eval://x?shots=5", 'unknown parameter "shots"'),
        ("lm-eval://x?num_fewshots=5", 'did you mean "num_fewshot"'),
        ("lm-eval://x?num_fewshot=-1", "whole number from 0"),
        ("lm-eval://x?num_fewshot=1&num_fewshot=2", "given twice"),
        ("lm-eval://x?apply_chat_template=yes", "give true or false"),
    ],
)
def test_a_wrong_address_says_what_is_wrong(uri: str, message: str) -> None:
    """Typing errors are caught before lm_eval is imported."""
    with pytest.raises(ConfigError, match=message):
        parse_address(uri)

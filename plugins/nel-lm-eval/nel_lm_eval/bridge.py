"""``lm-eval://TASK``: a task of lm-evaluation-harness as a benchmark of nel, and ``lm-eval://GROUP``:
the tasks of a group or a tag as benchmarks of one run, with the group's own means over them.

The requests become nel's samples, so that its client sends them, its store keeps them and its
artifacts show them; the task's own filters and metrics score the answers. The scorer runs in a
process of its own, which is forked after the task was loaded; a rescoring loads it again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Final
from urllib.parse import urlencode

from nel import Benchmark, BenchmarkGroup, Message, Sample, ScorerInput
from nel.core.addresses import split_address
from nel.errors import ConfigError, DatasetError, ScorerError
from nel.prompts import load_template
from nel.scoring import chrf
from nel.types import Scorer
from nel_lm_eval.groups import load_group
from nel_lm_eval.tasks import CORPUS_METRICS, RANKED, Address, LoadedTask, Rows, load_task

_PARAMETERS: Final = (
    "num_fewshot",
    "include_path",
    "apply_chat_template",
    "prefix_token",
    "group",
    "without",
)
_RESERVED: Final = ("_choices", "_choices_logprobs", "_choices_is_greedy")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskBenchmark(Benchmark):
    """A benchmark whose rows are a task's documents with their requests."""

    places_no_shots: ClassVar[str] = (
        "it chooses its own examples; instead of --num-fewshot write lm-eval://TASK?num_fewshot=N"
    )

    def sample(self, row: Mapping[str, Any], *, sample_id: str) -> Sample:
        """Return the sample that a row of `LoadedTask.rows` describes."""
        fields: dict[str, Any] = {
            "id": sample_id,
            "target": row["target"],
            "metadata": dict(row["doc"]),
        }
        if "prompt" in row:
            prompt = row["prompt"]
            text = prompt if isinstance(prompt, str) else _messages(prompt)
            return Sample(input=text, recorded_response=self.recorded_in(row["doc"]), **fields)
        if self.response_field is not None:
            raise DatasetError(
                f"{self.name} ranks choices; recorded answers in a field cannot be scored by it"
            )
        contexts, continuations = row["contexts"], row["continuations"]
        if len(contexts) == 1:
            return Sample(input=contexts[0], choices=tuple(continuations), **fields)
        return Sample(input="", choices=tuple(contexts), continuation=continuations[0], **fields)


def open_task(uri: str) -> Benchmark | BenchmarkGroup:
    """Return the benchmark, or the members of the group, that
    ``lm-eval://NAME?num_fewshot=N&include_path=FOLDER&apply_chat_template=true`` names.

    Raises:
        ConfigError: The address, the task or its kind cannot be run.
        DatasetError: Its data set cannot be had.
        MissingExtra: lm_eval is not installed.
    """
    address = parse_address(uri)
    group = load_group(address)
    if group is None:
        return _benchmark(address)
    addresses = {name: _uri(task.address) for name, task in group.members.items()}
    aggregates = [
        {
            "name": title,
            "metric": metric,
            "benchmarks": [addresses[name] for name in members],
            "weight_by_size": weight_by_size,
        }
        for title, metric, members, weight_by_size in group.means()
    ]
    return BenchmarkGroup(members=tuple(addresses.values()), aggregates=tuple(aggregates))


def _uri(address: Address) -> str:
    """Return the text of an address, with the parameters that differ from their defaults."""
    values = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name in _PARAMETERS
        if (value := getattr(address, name))
    }
    return f"lm-eval://{address.task}?{urlencode(values)}"


def _benchmark(address: Address) -> Benchmark:
    task = load_task(address)
    slug = re.sub(r"[^a-z0-9_-]+", "-", address.task.lower()).strip("-")
    description = f"{address.task} of lm-evaluation-harness {task.version}"
    if task.left_out:
        description += f"; without {', '.join(task.left_out)}, no mean over samples"
    protocol = None
    if task.kind in RANKED:
        protocol = "completions"
    elif address.apply_chat_template:
        protocol = "chat"
    return TaskBenchmark(
        name=f"lm-eval-{slug}",
        description=description,
        dataset=Rows(task),
        prompt=load_template("made by lm-evaluation-harness", name="prompt"),
        scorer=_scorer(task),
        loglikelihood=task.kind in RANKED,
        protocol=protocol,
        generation=task.generation(),
        extra={"task": task.digest()},
    )


def _scorer(task: LoadedTask) -> Scorer:
    """Return what counts an answer, with the metrics that nel computes over all answers."""

    def count_answer(sample: ScorerInput, *, address: Address) -> dict[str, Any]:
        return score(sample, address=address)

    count_answer.metrics = [  # type: ignore[attr-defined]
        replace(CORPUS_METRICS[name], name=name) for name in task.corpus_metrics
    ]
    count_answer.lower_is_better = task.lower_is_better  # type: ignore[attr-defined]
    return partial(count_answer, address=task.address)


def score(sample: ScorerInput, *, address: Address) -> dict[str, Any]:
    """Return what the task's own filters and metrics say of an answer.

    Raises:
        ScorerError: They say nothing that is a number.
    """
    doc = {key: value for key, value in sample.metadata.items() if key not in _RESERVED}
    sums = sample.metadata.get("_choices_logprobs")
    marks = sample.metadata.get("_choices_is_greedy")
    answers: list[Any] = [sample.response]
    if sums is not None:
        answers = list(zip(sums, marks or (), strict=True))
    task = load_task(address)
    counts = task.count(doc, answers)
    if task.corpus_metrics:
        counts |= {f"sentence_{name}": value for name, value in chrf(sample).items()}
    if not counts:
        raise ScorerError(f"the metrics of {address.task} gave no number for this answer")
    return {**counts, "extracted": sample.response}


def parse_address(uri: str) -> Address:
    """Return what a URI names.

    Raises:
        ConfigError: It names no task, or has a parameter that is unknown, given twice or of a wrong
            kind.

    >>> parse_address("lm-eval://gsm8k?num_fewshot=5")
    Address(task='gsm8k', group=None, num_fewshot=5, include_path=None, apply_chat_template=False, without=(), prefix_token='')
    """
    path, parameters = split_address(uri, _PARAMETERS)
    task = path.strip("/")
    if not task:
        raise ConfigError(f"{uri} names no task; write lm-eval://TASK")
    shots = parameters.get("num_fewshot")
    if shots is not None and not shots.isdecimal():
        raise ConfigError(f"{uri}: num_fewshot is {shots!r}; give a whole number from 0")
    chat = parameters.get("apply_chat_template", "false").lower()
    if chat not in ("true", "false"):
        raise ConfigError(f"{uri}: apply_chat_template is {chat!r}; give true or false")
    return Address(
        task=task,
        num_fewshot=None if shots is None else int(shots),
        include_path=parameters.get("include_path"),
        apply_chat_template=chat == "true",
        group=parameters.get("group"),
        prefix_token=parameters.get("prefix_token", ""),
        without=tuple(filter(None, parameters.get("without", "").split(","))),
    )


def _messages(turns: Sequence[Mapping[str, str]]) -> tuple[Message, ...]:
    return tuple(Message(role=message["role"], content=message["content"]) for message in turns)

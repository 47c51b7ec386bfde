"""All that touches lm_eval: a task is found, asked for its requests, and given answers to count.

What it asks for, in which words and with which examples, and what an answer is worth is the task's
own. The harness draws few-shot examples from one stream of random numbers that runs on from
document to document, so the requests are always built for all documents, from the same seed,
whatever a run's limit is.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import random
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, wraps
from importlib.metadata import version
from numbers import Number
from threading import current_thread, main_thread
from typing import Any, Final

from nel.errors import ConfigError, DatasetError, MissingExtra, did_you_mean
from nel.scoring.overlap import corpus_bleu_metric, corpus_chrf_metric, corpus_ter_metric

RANKED: Final = ("multiple_choice", "loglikelihood")
GENERATED: Final = "generate_until"
PYTHON_SEED: Final = 0
FEWSHOT_SEED: Final = 1234
"""Both are the harness' defaults."""
ANSWER_TOKENS_MAX: Final = 256
"""What the harness' API models generate at most where a task does not say."""
CORPUS_METRICS: Final = {
    "bleu": corpus_bleu_metric(),
    "chrf": corpus_chrf_metric(),
    "chrf++": corpus_chrf_metric(word_order=2),
    "ter": corpus_ter_metric(),
}
"""What nel computes over all answers, by the harness' names, which are those of the rows too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """What ``lm-eval://TASK?…`` names."""

    task: str
    group: str | None = None
    """The group or tag whose member the task is; it may change the task's settings."""
    num_fewshot: int | None = None
    """Instead of the task's own number."""
    include_path: str | None = None
    """A folder with further task files."""
    apply_chat_template: bool = False
    """Ask as turns of a chat, examples included, instead of in one text."""
    without: tuple[str, ...] = ()
    """Members of a group that are left out."""
    prefix_token: str = ""
    """Stands before a text that has no context: what the model's texts begin with."""


class Rows:
    """A function that returns a task's rows, and says in messages and reports whose they are."""

    def __init__(self, task: LoadedTask) -> None:
        """Take the task."""
        self.task = task
        self.__module__ = "lm_eval"
        self.__qualname__ = task.address.task

    def __call__(self) -> Iterator[dict[str, Any]]:
        """Return `LoadedTask.rows`."""
        return self.task.rows()


class LoadedTask:
    """One task of the harness, ready to give requests and to count answers."""

    def __init__(self, address: Address, task: Any, version: str) -> None:
        """Check that nel can ask and count it.

        Raises:
            ConfigError: Its kind of request, its repeats, its media or all of its metrics are of a
                kind that nel cannot run.
        """
        self.address = address
        self.task = task
        self.version = version
        self.kind = str(task.OUTPUT_TYPE)
        self._check_requests()
        rules = {name: rule.__name__ for name, rule in task.aggregation().items()}
        self.corpus_metrics = self._corpus_metrics(rules)
        self.left_out = sorted(
            name
            for name, rule in rules.items()
            if rule != "mean" and name not in self.corpus_metrics
        )
        self._check_metrics([name for name in rules if name not in self.left_out])

    def _check_requests(self) -> None:
        """Refuse what nel cannot ask: another kind of request, repeats, programs and media."""
        address, config = self.address, self.task.config
        if self.kind not in (*RANKED, GENERATED):
            raise ConfigError(
                f"{address.task} asks for {self.kind}; nel can run tasks of the kinds"
                f" {', '.join((*RANKED, GENERATED))}"
            )
        if self.kind in RANKED and address.apply_chat_template:
            raise ConfigError(
                f"{address.task} is ranked by log-likelihood, which a chat endpoint cannot do; "
                "leave out apply_chat_template"
            )
        if (config.repeats or 1) > 1:
            raise ConfigError(
                f"{address.task} asks each question {config.repeats} times and filters the answers"
                " together, which nel does not; choose a task with repeats: 1, and repeat it with"
                " --repeats"
            )
        if getattr(config, "unsafe_code", False):
            raise ConfigError(
                f"{address.task} runs the model's programs on this machine; take a benchmark that"
                " runs them in nel's sandbox, such as humaneval or mbpp"
            )
        if getattr(config, "doc_to_image", None) or getattr(config, "doc_to_audio", None):
            raise ConfigError(
                f"{address.task} shows images or plays sounds, which this bridge does not send"
            )

    def _corpus_metrics(self, rules: Mapping[str, str]) -> list[str]:
        """Return the metrics over all answers that nel computes, where answers are not changed."""
        is_as_answered = self.filters == ["none"] and self.task.config.process_results is None
        if self.kind != GENERATED or not is_as_answered:
            return []
        return [name for name, rule in rules.items() if rule == name and name in CORPUS_METRICS]

    def _check_metrics(self, metrics: Sequence[str]) -> None:
        """Refuse a task without a metric that nel computes, and one whose first is a loss."""
        if not metrics:
            raise ConfigError(
                f"{self.address.task} has no metric that is a mean over samples, only"
                f" {', '.join(self.left_out)}; nel has no score for a sample of it"
            )
        is_lower = self.task.higher_is_better().get(metrics[0]) is False
        if self.kind == GENERATED and is_lower:
            raise ConfigError(
                f"{self.address.task} is scored by {metrics[0]}, of which less is better; nel counts"
                " 0 for an answer that fails, which would be the best score"
            )

    @property
    def filters(self) -> list[str]:
        """Return the names of the pipelines that an answer goes through."""
        return [pipeline.name for pipeline in self.task._filters]  # noqa: SLF001 - as in count

    @property
    def metrics(self) -> list[str]:
        """Return the names under which its metrics stand in metrics.json, of those left out too."""
        return [
            metric_name(name, pipeline)
            for pipeline in self.filters
            for name in self.task.aggregation()
        ]

    @property
    def lower_is_better(self) -> list[str]:
        """Return the names of those of which less is better."""
        return [
            metric_name(name, pipeline)
            for pipeline in self.filters
            for name, is_higher in self.task.higher_is_better().items()
            if is_higher is False
        ]

    def generation(self) -> dict[str, Any]:
        """Return the generation settings that the harness would send, by nel's names."""
        if self.kind != GENERATED:
            return {}
        extra = dict(self.task.config.generation_kwargs or {})
        until = extra.pop("until", None) or []
        extra.pop("do_sample", None)
        limit = extra.pop("max_gen_toks", ANSWER_TOKENS_MAX)
        settings = {
            "stop": [until] if isinstance(until, str) else list(until),
            "max_tokens": extra.pop("max_tokens", limit),
            "temperature": extra.pop("temperature", 0.0),
        }
        if "top_p" in extra:
            settings["top_p"] = extra.pop("top_p")
        return {
            key: value
            for key, value in {**settings, "extra": extra}.items()
            if value not in ([], {})
        }

    def digest(self) -> str:
        """Return a digest of what the task's file says, filters and metrics included, and of the
        harness' version.
        """
        text = json.dumps(self.task.dump_config(), sort_keys=True, default=str)
        return hashlib.sha256(f"{self.version}\n{text}".encode()).hexdigest()

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each document with its requests: ``doc``, ``target``, and contexts and
        continuations, or a prompt.

        Raises:
            DatasetError: The harness cannot build them, or a request has no context to predict
                from.
        """
        try:
            instances = self._instances()
        except Exception as error:
            raise DatasetError(
                f"lm_eval cannot ask {self.address.task}: {type(error).__name__}: {error}"
            ) from error
        by_doc: dict[int, list[Any]] = {}
        for instance in instances:
            by_doc.setdefault(instance.doc_id, []).append(instance)
        for requests in by_doc.values():
            yield {
                "doc": dict(requests[0].doc),
                "target": self._target(requests[0].doc),
                **self._request(requests),
            }

    def count(self, doc: Mapping[str, Any], answers: Sequence[Any]) -> dict[str, float]:
        """Return what a document's answers are worth: every metric of the task that is a mean, for
        each filter.

        Args:
            answers: One text, or ``(sum, is_greedy)`` for each request.
        """
        from lm_eval.api.instance import (  # noqa: PLC0415 - heavy, and only where a task is run
            Instance,
        )

        _let_threads_set_alarms()
        requests = [
            Instance(request_type=self.kind, doc=doc, arguments=(), idx=index, resps=[answer])
            for index, answer in enumerate(answers)
        ]
        values: dict[str, float] = {}
        for pipeline in self.task._filters:  # noqa: SLF001 - the harness applies them to all documents at once
            pipeline.apply(requests)
            results = [instance.filtered_resps[pipeline.name] for instance in requests]
            for name, value in self.task.process_results(doc, results).items():
                if name not in self.left_out and isinstance(value, Number):
                    values[metric_name(name, pipeline.name)] = float(value)  # type: ignore[arg-type]
        return values

    def _instances(self) -> list[Any]:
        self.task.set_fewshot_seed(FEWSHOT_SEED)
        chat = self.address.apply_chat_template
        with _harness_seeds():
            self.task.build_all_requests(
                apply_chat_template=chat,
                fewshot_as_multiturn=chat,
                chat_template=_as_json if chat else None,
            )
        instances = list(self.task.instances)
        self.task._instances = None  # noqa: SLF001 - else every prompt is held as long as the task
        return instances

    def _target(self, doc: Any) -> Any:
        target = self.task.doc_to_text(doc) if self.kind in RANKED and self._has_contexts else None
        target = self.task.doc_to_target(doc) if target is None else target
        return target if isinstance(target, (str, int, float, list)) else str(target)

    @property
    def _has_contexts(self) -> bool:
        return bool(getattr(self.task, "multiple_input", 0))

    def _request(self, requests: Sequence[Any]) -> dict[str, Any]:
        if self.kind == GENERATED:
            prompt, _ = requests[0].args
            return {"prompt": json.loads(prompt) if self.address.apply_chat_template else prompt}
        pairs = [instance.args for instance in requests]
        contexts = [pair[0] if pair[0].strip() else self.address.prefix_token for pair in pairs]
        continuations = [pair[1] for pair in pairs]
        if not all(contexts):
            raise DatasetError(
                f"{self.address.task} asks how likely a text is with nothing in front of it; give what"
                " the model's texts begin with, such as prefix_token=<|endoftext|>"
            )
        if len(set(contexts)) == 1:
            return {"contexts": contexts[:1], "continuations": continuations}
        if len(set(continuations)) == 1:
            return {"contexts": contexts, "continuations": continuations[:1]}
        raise DatasetError(
            f"the requests of {self.address.task} share neither a context nor a continuation"
        )


def metric_name(name: str, pipeline: str) -> str:
    """Return what metrics.json calls a metric of the harness after a pipeline of filters."""
    return name if pipeline == "none" else f"{name}_{pipeline}"


@cache
def load_task(address: Address) -> LoadedTask:
    """Return a task of the installed lm_eval, with its data set.

    Raises:
        MissingExtra: lm_eval is not installed.
        ConfigError: There is no such task, or it is of a kind that nel cannot run.
        DatasetError: Its data set cannot be had.
    """
    entry_address = replace(address, task=address.group or address.task, group=None)
    tasks = entry_of(entry_address)["tasks"]
    if address.task not in tasks:
        raise ConfigError(f"{address.group} of lm_eval has no member {address.task}")
    task = copy(tasks[address.task])
    shots = address.num_fewshot
    # The harness keeps a task of a group without examples at that.
    if shots is not None and not (address.group and task.config.num_fewshot == 0):
        task._config = copy(task.config)  # noqa: SLF001 - the number is of this address alone
        task.set_config(key="num_fewshot", value=shots)
    return LoadedTask(address, task, version("lm_eval"))


def is_task(address: Address) -> bool:
    """Return whether the installed lm_eval has a task of that name, and not a group or a tag."""
    return address.task in _index(address).all_subtasks


def entry_of(address: Address) -> Mapping[str, Any]:
    """Return the tasks and groups that a name stands for, with their data sets."""
    return _load_name(_index(address), address.task)


@cache
def _load_name(index: Any, name: str) -> Mapping[str, Any]:
    try:
        with _harness_seeds():
            entry: Mapping[str, Any] = index.load([name])
    except Exception as error:
        raise DatasetError(
            f"lm_eval cannot load {name}: {type(error).__name__}: {error}"
        ) from error
    return entry


def _index(address: Address) -> Any:
    """Return an index that has the task: of the folder alone where it is there, since the whole
    takes seconds.
    """
    if address.include_path is not None:
        index = _index_of(address.include_path, include_defaults=False)
        if address.task in index.all_tasks:
            return index
    index = _index_of(address.include_path, include_defaults=True)
    if address.task not in index.all_tasks:
        hint = did_you_mean(address.task, index.all_tasks) or "; lm-eval ls tasks shows all"
        raise ConfigError(f'lm_eval has no task "{address.task}"{hint}')
    return index


@cache
def _index_of(include_path: str | None, *, include_defaults: bool) -> Any:
    os.environ.setdefault("TQDM_DISABLE", "1")
    try:
        from lm_eval.tasks import TaskManager  # noqa: PLC0415 - heavy
    except ImportError as error:
        raise MissingExtra(
            f"lm-eval:// needs lm_eval: pip install 'lm_eval[api]' ({error})"
        ) from error
    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    return TaskManager(include_path=include_path, include_defaults=include_defaults)


@cache
def _let_threads_set_alarms() -> None:
    """Let a task set an alarm in a thread, as math_verify and the harness' tasks of mathematics do.

    Python refuses that outside the main thread. There it does nothing: nel's deadline ends the call.
    """
    for name in ("signal", "alarm"):
        setattr(signal, name, _in_main_thread(getattr(signal, name)))


def _in_main_thread(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*arguments: Any) -> Any:
        return function(*arguments) if current_thread() is main_thread() else None

    return call


@contextmanager
def _harness_seeds() -> Iterator[None]:
    """Seed Python's and numpy's global generators as the harness does, which some tasks draw from;
    put them back.
    """
    import numpy as np  # noqa: PLC0415 - lm_eval brings it

    python, numpy = random.getstate(), np.random.get_state()
    random.seed(PYTHON_SEED)
    np.random.seed(FEWSHOT_SEED)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)


def _as_json(messages: Sequence[Mapping[str, str]], **_: Any) -> str:
    return json.dumps(
        [{"role": message["role"], "content": message["content"]} for message in messages]
    )

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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from numbers import Number
from typing import Any, Final

from nel.errors import ConfigError, DatasetError, MissingExtra, did_you_mean

RANKED: Final = ("multiple_choice", "loglikelihood")
GENERATED: Final = "generate_until"
PYTHON_SEED: Final = 0
FEWSHOT_SEED: Final = 1234
"""Both are the harness' defaults."""
ANSWER_TOKENS_MAX: Final = 256
"""What the harness' API models generate at most where a task does not say."""
_NAMES_SHOWN: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """What ``lm-eval://TASK?…`` names."""

    task: str
    num_fewshot: int | None = None
    """Instead of the task's own number."""
    include_path: str | None = None
    """A folder with further task files."""
    apply_chat_template: bool = False
    """Ask as turns of a chat, examples included, instead of in one text."""


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
        config = task.config
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
        counted = {name: rule.__name__ == "mean" for name, rule in task.aggregation().items()}
        self.left_out = sorted(name for name, is_mean in counted.items() if not is_mean)
        if not any(counted.values()):
            raise ConfigError(
                f"{address.task} has no metric that is a mean over samples, only"
                f" {', '.join(self.left_out)}; nel has no score for a sample of it"
            )

    def generation(self) -> dict[str, Any]:
        """Return the generation settings that the harness would send, by nel's names."""
        if self.kind != GENERATED:
            return {}
        asked = dict(self.task.config.generation_kwargs or {})
        until = asked.pop("until", None) or []
        asked.pop("do_sample", None)
        limit = asked.pop("max_gen_toks", ANSWER_TOKENS_MAX)
        named = {
            "stop": [until] if isinstance(until, str) else list(until),
            "max_tokens": asked.pop("max_tokens", limit),
            "temperature": asked.pop("temperature", 0.0),
        }
        if "top_p" in asked:
            named["top_p"] = asked.pop("top_p")
        return {
            key: value for key, value in {**named, "extra": asked}.items() if value not in ([], {})
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
        for asked in by_doc.values():
            yield {
                "doc": dict(asked[0].doc),
                "target": self._target(asked[0].doc),
                **self._request(asked),
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

        asked = [
            Instance(request_type=self.kind, doc=doc, arguments=(), idx=index, resps=[answer])
            for index, answer in enumerate(answers)
        ]
        values: dict[str, float] = {}
        for pipeline in self.task._filters:  # noqa: SLF001 - the harness applies them to all documents at once
            pipeline.apply(asked)
            results = [instance.filtered_resps[pipeline.name] for instance in asked]
            suffix = "" if pipeline.name == "none" else f"_{pipeline.name}"
            for name, value in self.task.process_results(doc, results).items():
                if name not in self.left_out and isinstance(value, Number):
                    values[f"{name}{suffix}"] = float(value)  # type: ignore[arg-type]
        return values

    def _instances(self) -> list[Any]:
        self.task.set_fewshot_seed(FEWSHOT_SEED)
        chat = self.address.apply_chat_template
        with _seeded():
            self.task.build_all_requests(
                apply_chat_template=chat,
                fewshot_as_multiturn=chat,
                chat_template=_as_json if chat else None,
            )
        built = list(self.task.instances)
        self.task._instances = None  # noqa: SLF001 - else every prompt is held as long as the task
        return built

    def _target(self, doc: Any) -> Any:
        target = self.task.doc_to_text(doc) if self.kind in RANKED and self._has_contexts else None
        target = self.task.doc_to_target(doc) if target is None else target
        return target if isinstance(target, (str, int, float, list)) else str(target)

    @property
    def _has_contexts(self) -> bool:
        return bool(getattr(self.task, "multiple_input", 0))

    def _request(self, asked: Sequence[Any]) -> dict[str, Any]:
        if self.kind == GENERATED:
            prompt, _ = asked[0].args
            return {"prompt": json.loads(prompt) if self.address.apply_chat_template else prompt}
        pairs = [instance.args for instance in asked]
        contexts, continuations = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        if not all(context.strip() for context in contexts):
            raise DatasetError(
                f"{self.address.task} asks how likely a text is with nothing in front of it, which"
                " no endpoint says"
            )
        if len(set(contexts)) == 1:
            return {"contexts": contexts[:1], "continuations": continuations}
        if len(set(continuations)) == 1:
            return {"contexts": contexts, "continuations": continuations[:1]}
        raise DatasetError(
            f"the requests of {self.address.task} share neither a context nor a continuation"
        )


@lru_cache(maxsize=32)
def load_task(address: Address) -> LoadedTask:
    """Return a task of the installed lm_eval, with its data set.

    Raises:
        MissingExtra: lm_eval is not installed.
        ConfigError: There is no such task, or it is a group, or of a kind that nel cannot run.
        DatasetError: Its data set cannot be had.
    """
    os.environ.setdefault("TQDM_DISABLE", "1")
    try:
        import lm_eval  # noqa: PLC0415 - heavy
        import lm_eval.tasks  # noqa: PLC0415 - heavy
    except ImportError as error:
        raise MissingExtra(
            f"lm-eval://{address.task} needs lm_eval: pip install 'lm_eval[api]' ({error})"
        ) from error
    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    manager = _manager(address)
    _check_name(address.task, manager)
    try:
        with _seeded():
            (task,) = manager.load([address.task])["tasks"].values()
    except Exception as error:
        raise DatasetError(
            f"lm_eval cannot load {address.task}: {type(error).__name__}: {error}"
        ) from error
    if address.num_fewshot is not None:
        task.set_config(key="num_fewshot", value=address.num_fewshot)
    return LoadedTask(address, task, getattr(lm_eval, "__version__", "unknown"))


def _manager(address: Address) -> Any:
    """Return an index that has the task: of the folder alone where it is there, since the whole
    takes seconds.
    """
    from lm_eval.tasks import TaskManager  # noqa: PLC0415 - heavy

    if address.include_path is not None:
        manager = TaskManager(include_path=address.include_path, include_defaults=False)
        if address.task in manager.all_subtasks:
            return manager
    return TaskManager(include_path=address.include_path)


def _check_name(name: str, manager: Any) -> None:
    tasks = manager.all_subtasks
    if name in tasks:
        return
    if name in manager.all_groups or name in manager.all_tags:
        begins = [task for task in tasks if task.startswith(name)][:_NAMES_SHOWN]
        example = f", such as {', '.join(begins)}" if begins else ""
        raise ConfigError(f"lm-eval://{name} is a group of tasks; name them one by one{example}")
    hint = did_you_mean(name, tasks) or "; lm-eval ls tasks shows all"
    raise ConfigError(f'lm_eval has no task "{name}"{hint}')


@contextmanager
def _seeded() -> Iterator[None]:
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

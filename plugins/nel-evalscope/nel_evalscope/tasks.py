"""All that touches evalscope: a benchmark is found, its adapter loads and words its samples, and
scores answers.

The adapter's own flow runs: `load_dataset` with every method that it overrides, its templates and
few-shot examples, its inference hooks around the one answer that nel got, and its metrics. What
needs more than one answer to a sample is refused.
"""

from __future__ import annotations

import copy
import hashlib
import importlib.util
import inspect
import json
import logging
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from nel.compat.evalscope.aggregation import MEANS_OF_ONE
from nel.compat.evalscope.own_aggregates import OwnAggregates
from nel.compat.evalscope.refused import REASONS
from nel.compat.evalscope.samples import USABLE, check_json
from nel.core.reward_keys import with_headline
from nel.errors import ConfigError, MissingExtra, ScorerError, did_you_mean
from nel.types import SampleScore as StoredScore
from nel.types import Score

MODEL: Final = "nel"
_PLAIN: Final = ("DefaultDataAdapter", "MultiChoiceAdapter")
"""Adapters whose scores are aggregated as is declared; the second one has a rule for decision
services too.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """What ``evalscope://NAME?…`` names."""

    name: str
    home: str | None = None
    """The file that registers it, where it is not EvalScope's own."""
    arguments: tuple[tuple[str, str], ...] = ()
    """What is given in `dataset_args`, each value as JSON."""
    hub: str | None = None
    """``modelscope`` or ``huggingface``."""


class Refusal(Exception):
    """The benchmark does what nel cannot do for it."""


@dataclass(slots=True)
class OneAnswer:
    """The model as an adapter's hooks see it: it gives one answer, and remembers what it was
    asked.
    """

    answer: str
    name: str = MODEL
    inputs: list[Any] = field(default_factory=list)
    role: str | None = None
    config: Any = None

    def generate(
        self,
        input: Any,  # noqa: A002 - EvalScope's name
        tools: Any = None,
        tool_choice: Any = None,
        config: Any = None,
    ) -> Any:
        """Return the answer.

        Raises:
            Refused: Tools or settings are given, or this is the second question.
        """
        from evalscope.api.model import ModelOutput  # noqa: PLC0415 - heavy

        if tools:
            raise Refusal("gives the model tools")
        settings = (
            {} if config is None else config.model_dump(exclude_none=True, exclude_defaults=True)
        )
        if settings:
            raise Refusal(f"sets {', '.join(sorted(settings))} for a question")
        if self.inputs:
            raise Refusal("asks the model more than once for a sample")
        self.inputs.append(input)
        return ModelOutput.from_content(model=self.name, content=self.answer)


class LoadedBenchmark:
    """One benchmark of EvalScope, ready to give samples and to score answers."""

    def __init__(self, address: Address, adapter: Any, version: str) -> None:
        """Check that nel can ask and score it.

        Raises:
            ConfigError: It needs a judge, or what nel does not do here.
        """
        self.address = address
        self.adapter = adapter
        self.version = version
        for problem in _problems(adapter):
            raise ConfigError(f"evalscope://{address.name} {problem}")

    @property
    def meta(self) -> Any:
        """Return what the benchmark declares."""
        return self.adapter._benchmark_meta  # noqa: SLF001 - the name that every adapter's base gives it

    def digest(self) -> str:
        """Return a digest of what the benchmark declares, its adapter's file and EvalScope's
        version.
        """
        declaration = json.dumps(
            self.meta.to_dict() if hasattr(self.meta, "to_dict") else str(self.meta),
            sort_keys=True,
            default=str,
        )
        source = Path(inspect.getfile(type(self.adapter))).read_bytes()
        return hashlib.sha256(
            f"{self.version}\n{self.address}\n{declaration}\n".encode() + source
        ).hexdigest()

    def load(self) -> Any:
        """Return the samples by subset."""
        with _quietly():
            return self.adapter.load_dataset()

    def row(self, subset: str, sample: Any) -> dict[str, Any]:
        """Return a sample with its messages and subset.

        Raises:
            ConfigError: The benchmark needs what nel does not do.
        """
        try:
            check_json(sample.metadata)  # and as it is, since a metric may look for what is None
            fields = sample.model_dump(
                mode="json", exclude={"id", "group_id", "metadata"}, exclude_none=True
            )
            fields["metadata"] = sample.metadata or {}
        except Exception as error:  # noqa: BLE001 - of this sample alone: bytes that are not a text, for example
            return {
                "subset": subset,
                "fault": f"the sample cannot be kept as JSON: {type(error).__name__}: {error}",
            }
        if isinstance(fields["input"], list):  # each load gives its messages other ids
            fields["input"] = [
                {key: message[key] for key in message if key != "id"} for message in fields["input"]
            ]
        row = {
            "subset": subset,
            "columns": fields["metadata"],
            "target": fields["target"],
            "choices": fields.get("choices") or None,
            "metadata": {"sample": fields, "subset": subset},
        }
        try:
            return {**row, "messages": self._messages(sample)}
        except Refusal as error:
            raise ConfigError(
                f"evalscope://{self.address.name} {error}; run it with evalscope eval"
            ) from error
        except Exception as error:  # noqa: BLE001 - of this sample alone: its row will say so
            return {**row, "fault": f"{type(error).__name__}: {error}"}

    def _messages(self, sample: Any) -> list[dict[str, Any]]:
        from evalscope.api.messages import ChatMessageUser  # noqa: PLC0415 - heavy
        from evalscope.models.utils.openai import openai_chat_messages  # noqa: PLC0415 - heavy

        if sample.tools:
            raise Refusal("gives the model tools")
        if sample.sandbox or sample.files or sample.setup:
            raise Refusal("needs a sandbox for its samples")
        model = OneAnswer("")
        self.adapter._on_inference_start(model, sample)  # noqa: SLF001 - EvalScope's name for a hook
        self.adapter._on_inference(model, sample)  # noqa: SLF001 - as above
        if not model.inputs:
            raise Refusal("never asks the model")
        prompt = model.inputs[0]
        messages = [ChatMessageUser(content=prompt)] if isinstance(prompt, str) else list(prompt)
        return [_message_json(message) for message in openai_chat_messages(messages)]

    @property
    def own_aggregation(self) -> str | None:
        """Return what aggregates its scores, where that is not their mean."""
        has_own_rule = (
            type(self.adapter).aggregate_scores.__qualname__.partition(".")[0] not in _PLAIN
        )
        aggregation = "a rule of its own" if has_own_rule else str(self.adapter.aggregation)
        return None if aggregation in MEANS_OF_ONE else aggregation

    def score(self, row: Mapping[str, Any], response: str) -> Score:
        """Return the numbers of an answer, the main one as its headline, and what else its score
        says.

        Raises:
            ScorerError: There is no score.
        """
        score = self.sample_score(row, response).score
        status = getattr(score.status, "value", score.status)
        if status not in USABLE or not score.value:
            reason = (
                score.explanation
                or "; ".join(str(value) for value in (score.metadata or {}).values())
                or status
            )
            raise ScorerError(f"{self.address.name} gave no score: {reason}")
        if status == "degraded":
            raise ScorerError(f"{self.address.name}: a metric failed: {score.metadata}")
        values = score.value
        main = score.main_score_name if score.main_score_name in values else next(iter(values))
        numbers = {name: float(values[name]) for name in (main, *values)}
        return Score(
            value=with_headline(numbers, main),
            answer=score.extracted_prediction,
            explanation=score.explanation,
            metadata=score.metadata or {} if self.own_aggregation else {},
        )

    def sample_score(self, row: Mapping[str, Any], response: str) -> Any:
        """Return EvalScope's SampleScore of an answer."""
        from evalscope.api.dataset import Sample  # noqa: PLC0415 - heavy

        sample = Sample.model_validate({**row["sample"], "id": 0, "group_id": 0})
        with _quietly(), tempfile.TemporaryDirectory() as folder:
            state = self.adapter.run_inference(OneAnswer(response), sample, folder)
            sample_score = self.adapter.calculate_metrics(state)
            (sample_score,) = self.adapter.batch_calculate_metrics([state], [sample_score])
        return sample_score


class Aggregates(OwnAggregates):
    """What EvalScope's own code makes of all answers to a benchmark."""

    def __init__(self, benchmark: LoadedBenchmark) -> None:
        """Take the benchmark."""
        super().__init__(benchmark.adapter)
        self.benchmark = benchmark

    def _as_adapters(self, sample: StoredScore) -> Any:
        """Return a stored score as EvalScope's; if it has no numbers, an empty answer's."""
        from evalscope.api import metric  # noqa: PLC0415 - heavy

        row: Any = sample.sample_metadata
        numbers = sample.score.value
        if not isinstance(numbers, Mapping) or not numbers:
            return self.benchmark.sample_score(row, "")
        score = metric.Score(
            value=dict(numbers),
            extracted_prediction=sample.score.answer,
            prediction=sample.response,
            metadata=dict(sample.score.metadata or {}),
        )
        return metric.SampleScore(
            score=score,
            sample_id=sample.sample_id,
            group_id=sample.sample_id,
            sample_metadata=row["sample"]["metadata"],
        )


@lru_cache(maxsize=32)
def load_benchmark(address: Address) -> LoadedBenchmark:
    """Return a benchmark of the installed EvalScope; its data are not loaded yet.

    Raises:
        MissingExtra: evalscope is not installed.
        ConfigError: There is no such benchmark, an argument of it is wrong, or nel cannot run it.
    """
    try:
        with _quietly():
            import evalscope.benchmarks  # noqa: F401, PLC0415 - heavy; it knows the names of them all
            from evalscope import TaskConfig  # noqa: PLC0415 - heavy
    except ImportError as error:
        raise MissingExtra(
            f"evalscope://{address.name} needs evalscope: pip install evalscope ({error})"
        ) from error
    arguments = {key: json.loads(value) for key, value in address.arguments}
    settings: dict[str, Any] = {} if address.hub is None else {"dataset_hub": address.hub}
    with _quietly():
        meta = _declaration(address)
        try:
            config = TaskConfig(
                model=MODEL,
                eval_type="openai_api",
                api_url="http://127.0.0.1",
                datasets=[],
                **settings,
            )
            meta._update(arguments)  # noqa: SLF001 - what EvalScope calls for `dataset_args`
            adapter = meta.data_adapter(benchmark_meta=meta, task_config=config)
        except Exception as error:
            raise ConfigError(
                f"evalscope://{address.name}: {type(error).__name__}: {error}"
            ) from error
    return LoadedBenchmark(address, adapter, metadata.version("evalscope"))


def _declaration(address: Address) -> Any:
    """Return a copy of what a benchmark declares.

    Raises:
        ConfigError: There is no such benchmark, or its module cannot be loaded.
    """
    from evalscope.api.registry import BENCHMARK_REGISTRY  # noqa: PLC0415 - heavy

    registry = BENCHMARK_REGISTRY if address.home is None else _registrations_of(address.home)
    try:
        if address.home is None:
            is_registered = BENCHMARK_REGISTRY.is_registered(address.name)
        else:
            is_registered = address.name in registry
        meta = registry.get(address.name) if is_registered else None
    except Exception as error:
        raise ConfigError(f"evalscope://{address.name}: {type(error).__name__}: {error}") from error
    if meta is None:
        home = address.home or "evalscope"
        raise ConfigError(
            f"{home} has no benchmark"
            f' "{address.name}"{did_you_mean(address.name, set(registry)) or ""}'
        )
    return copy.deepcopy(meta)


@lru_cache(maxsize=32)
def _registrations_of(home: str) -> dict[str, Any]:
    """Return what a file registers, by name; EvalScope's own registry stays as it is, so that names
    may be the same.

    Raises:
        ConfigError: The file cannot be loaded.
    """
    from evalscope.api import registry  # noqa: PLC0415 - heavy

    if not Path(home).is_file():
        raise ConfigError(f"evalscope://{home}: there is no such file")
    registrations: dict[str, Any] = {}

    def register_benchmark(meta: Any) -> Any:
        def register(adapter: Any) -> Any:
            meta.data_adapter = adapter
            registrations[meta.name] = meta
            return adapter

        return register

    name = f"nel_evalscope_{hashlib.sha256(home.encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, home)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{home} cannot be loaded as a Python module")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    original, registry.register_benchmark = registry.register_benchmark, register_benchmark
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ConfigError(f"{home} cannot be loaded: {type(error).__name__}: {error}") from error
    finally:
        registry.register_benchmark = original
    return registrations


def _problems(adapter: Any) -> Iterator[str]:
    """Yield what nel cannot do for a benchmark, in words that follow its name."""
    for base in type(adapter).__mro__:
        if base.__name__ in REASONS:
            yield REASONS[base.__name__]
        if base.__name__ == "CodeExecutionSandboxMixin":
            yield "runs the model's programs; nel's humaneval and mbpp run them in nel's sandbox"
    if adapter.use_llm_judge:
        yield "is scored by a judge, which this bridge does not ask"


def _message_json(message: Any) -> dict[str, Any]:
    """Return a message as JSON; what is no text or picture is refused."""
    content = message.get("content")
    if isinstance(content, list):
        content = [dict(block) for block in content]
        for block in content:
            if block.get("type") not in ("text", "image_url"):
                raise Refusal(
                    f"shows the model {block.get('type')}, which this bridge does not send"
                )
    if message.get("tool_calls") or not isinstance(content, (str, list)):
        raise Refusal("shows the model calls of tools")
    return {"role": str(message["role"]), "content": content}


@contextmanager
def _quietly() -> Iterator[None]:
    """Let EvalScope log errors only; its handlers write beside nel's own progress."""
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(level)

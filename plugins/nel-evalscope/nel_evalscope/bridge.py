"""``evalscope://NAME``: a benchmark of an installed EvalScope as a benchmark of nel.

Its samples become nel's, so that nel's client sends them, its store keeps them and its artifacts
show them; the adapter scores the answers. The scorer runs in a process of its own, which is forked
after the benchmark was loaded; a rescoring loads it again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from nel import Benchmark, Sample, Score, ScorerInput
from nel.compat.evalscope.own_rows import LoadedRows, loaded_sample
from nel.core.addresses import split_address
from nel.errors import ConfigError, ScorerError
from nel.prompts import load_template
from nel_evalscope.tasks import Address, Aggregates, Refusal, load_benchmark

_HUBS: Final = ("modelscope", "huggingface", "local")
_PARAMETERS: Final = (
    "dataset_hub", "dataset_id", "default_subset", "eval_split", "extra_params", "few_shot_num",
    "few_shot_prompt_template", "few_shot_random", "filters", "local_path", "metric_list", "prompt_template",
    "query_template", "shuffle", "shuffle_choices", "subset_list", "system_prompt", "train_split",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterBenchmark(Benchmark):
    """A benchmark whose rows are an adapter's samples with their messages."""

    places_no_shots: ClassVar[str] = (
        "it chooses its own examples; instead of --num-fewshot write evalscope://NAME?few_shot_num=N"
    )

    def sample(self, row: Mapping[str, Any], *, sample_id: str) -> Sample:
        """Return the sample that a row of `LoadedBenchmark.row` describes.

        Raises:
            DatasetError: The row is none of those, or its messages could not be made.
        """
        return loaded_sample(self, row, sample_id)


def open_benchmark(uri: str) -> Benchmark:
    """Return the benchmark that
    ``evalscope://NAME?few_shot_num=N&subset_list=["a"]&local_path=FOLDER`` names.

    Raises:
        ConfigError: The address, the benchmark or its kind cannot be run.
        MissingExtra: evalscope is not installed.
    """
    address = parse_address(uri)
    benchmark = load_benchmark(address)
    slug = re.sub(r"[^a-z0-9_-]+", "-", address.name.lower()).strip("-")
    aggregation = benchmark.own_aggregation
    beside = f"; {aggregation} as aggregated/… beside the mean over samples" if aggregation else ""
    return AdapterBenchmark(
        name=f"evalscope-{slug}",
        description=f"{address.name} of EvalScope {benchmark.version}{beside}",
        dataset=LoadedRows(benchmark.load, benchmark.row, "evalscope", address.name),
        prompt=load_template("made by EvalScope", name="prompt"),
        scorer=AdapterScorer(
            address=address, metrics=(Aggregates(benchmark),) if aggregation else ()
        ),
        protocol="chat",
        category_field="subset",
        extra={"benchmark": benchmark.digest()},
    )


@dataclass(frozen=True, kw_only=True)
class AdapterScorer:
    """A benchmark's adapter, as one of nel's scorers."""

    address: Address
    metrics: tuple[Aggregates, ...] = ()
    name: ClassVar[str] = "AdapterScorer"

    @property
    def params(self) -> dict[str, Any]:
        """Return what names it in a run's identity."""
        return {"address": self.address}

    def __call__(self, sample: ScorerInput) -> Score:
        """Return what the adapter says of an answer.

        Raises:
            ScorerError: It gives no score.
        """
        try:
            return load_benchmark(self.address).score(sample.metadata, sample.response)
        except Refusal as error:
            raise ScorerError(f"evalscope://{self.address.name} {error}") from error


def parse_address(uri: str) -> Address:
    """Return what a URI names.

    Raises:
        ConfigError: It names no benchmark, or has a parameter that is unknown or given twice.

    >>> parse_address("evalscope://gsm8k?few_shot_num=0").arguments
    (('few_shot_num', '0'),)
    """
    path, parameters = split_address(uri, _PARAMETERS)
    home, at, name = path.rpartition("@")
    if at and not home.startswith("/"):
        raise ConfigError(f"{uri}: give the whole path, or a resume elsewhere would not find it")
    name = name.strip("/")
    if not name:
        raise ConfigError(
            f"{uri} names no benchmark; write evalscope://NAME or evalscope:///PATH/FILE.py@NAME"
        )
    hub = parameters.pop("dataset_hub", None)
    if hub is not None and hub not in _HUBS:
        raise ConfigError(f"{uri}: dataset_hub is {hub!r}; give {', '.join(_HUBS)}")
    return Address(
        name=name,
        home=home or None,
        arguments=tuple(sorted((key, _as_json(value)) for key, value in parameters.items())),
        hub=hub,
    )


def _as_json(value: str) -> str:
    """Return a value as JSON: what it is already, else as text."""
    try:
        return json.dumps(json.loads(value), sort_keys=True)
    except ValueError:
        return json.dumps(value)

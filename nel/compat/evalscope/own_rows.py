"""The rows of an adapter that loads its samples by methods of its own.

`load_dataset` runs once for each reading of the dataset, in the process that reads it; each of its
samples becomes a row with its subset and messages. What the methods write to ``self`` is not there
when answers are scored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from nel.authoring.benchmark import Benchmark
from nel.compat.evalscope.bridge import AdaptedBenchmark, prompt_of, sent_messages
from nel.compat.evalscope.own_loads import LoadsItself
from nel.compat.evalscope.samples import TOOLS_FAULT, ChatMessage, Sample, check_json
from nel.errors import DatasetError, NelError
from nel.types import JsonObject, Message
from nel.types import Sample as NelSample

_KEYS: Final = ("target", "choices", "metadata", "subset_key")


class LoadedRows:
    """A function that gives the samples of a loader as rows, under its name in messages."""

    def __init__(
        self,
        load: Callable[[], Any],
        row: Callable[[str, Any], dict[str, Any]],
        origin: str,
        name: str,
    ) -> None:
        """Take the loader, which returns samples by subset, what makes a row of one, and names.

        Args:
            load: The loader.
            row: Is given a subset and a sample.
            origin: Stands for the module.
            name: Of the loader.
        """
        self.load, self.row = load, row
        self.__module__, self.__qualname__ = origin, name

    def __call__(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each sample.

        Raises:
            DatasetError: They cannot be loaded.
        """
        try:
            subsets = self.load()
        except NelError:
            raise
        except Exception as error:
            raise DatasetError(
                f"{self.__qualname__} failed: {type(error).__name__}: {error}"
            ) from error
        for subset, samples in subsets.items():
            for sample in samples:
                yield self.row(subset, sample)


def _row(subset: str, sample: Sample) -> dict[str, Any]:
    if sample.tools:
        return {"subset": subset, "fault": TOOLS_FAULT}
    conversation = (
        sample.input if isinstance(sample.input, list) else [ChatMessage("user", sample.input)]
    )
    try:
        check_json(sample.metadata)
        messages = [
            {"role": message.role, "content": message.content}
            for message in sent_messages(conversation)
        ]
    except Exception as error:  # noqa: BLE001 - of this sample alone: its row says so
        return {"subset": subset, "fault": f"{type(error).__name__}: {error}"}
    return {
        "subset": subset,
        "messages": messages,
        **{name: getattr(sample, name) for name in _KEYS},
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLoadBenchmark(AdaptedBenchmark):
    """A benchmark whose adapter loads its samples by methods of its own."""

    places_no_shots: ClassVar[str] = (
        "it loads its own examples; instead of --num-fewshot give args.few_shot_num"
    )

    def _chosen_samples(self, row: JsonObject) -> list[tuple[int | None, str]]:
        """Return the subset of a row, which is one sample."""
        return [(None, str(row.get("subset")))]

    def sample(self, row: JsonObject, *, sample_id: str) -> NelSample:
        """Return the sample of a row that `LoadedRows` gave.

        Raises:
            DatasetError: Its messages could not be made, or the row is none of those.
        """
        return loaded_sample(self, row, sample_id)

    def example_value(self, row: JsonObject) -> str | None:
        """Return the subset that a row belongs to."""
        return str(row.get("subset"))


def rows_of(adapter: LoadsItself) -> LoadedRows:
    """Return the rows of an adapter's own flow."""
    return LoadedRows(
        adapter.load_dataset, _row, "adapter", f"{type(adapter).__name__}.load_dataset"
    )


def loaded_sample(benchmark: Benchmark, row: JsonObject, sample_id: str) -> NelSample:
    """Return the sample of a row that EvalScope's loader, or an adapter's own, gave.

    Raises:
        DatasetError: Its messages could not be made, or the row is none of those.
    """
    if "fault" in row:
        raise DatasetError(str(row["fault"]))
    if "messages" not in row:
        raise DatasetError(
            f"{benchmark.name} loads its own rows; name its data with local_path=FOLDER, in args"
            " or in its address"
        )
    metadata = row["metadata"] or {}
    choices = row["choices"]
    return NelSample(
        id=sample_id,
        input=prompt_of(tuple(map(_message, row["messages"]))),
        target=row["target"],
        choices=None if choices is None else tuple(map(str, choices)),
        metadata=metadata,
        subset=str(row["subset"]),
        recorded_response=benchmark.recorded_in(row.get("columns", metadata)),
    )


def _message(described: JsonObject) -> Message:
    content = described["content"]
    if not isinstance(content, str):
        content = tuple(content)
    return Message(role=described["role"], content=content)

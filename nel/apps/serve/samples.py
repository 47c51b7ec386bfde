"""The samples of a benchmark that is served: by position to ask them, by id to score answers.

Depends on the engine's plan, so that a row makes the sample that it makes in a run. All of them are
kept in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from nel.config.load import build_config
from nel.config.schema import SandboxConfig
from nel.config.settings import Assignment
from nel.core.strict_json import dumps, loads
from nel.engine.asking.benchmark_description import first_request
from nel.engine.planning.plan import Plan
from nel.engine.planning.plan_samples import Digests, stream_samples
from nel.engine.planning.resolution import make_plans
from nel.engine.store.codec import decode_sample
from nel.errors import UsageError
from nel.types import Generation, JsonObject, Sample

SAMPLE_ID: Final = "sample_id"
"""The key of the metadata that names the sample."""
_NO_ENDPOINT: Final = {"url": "http://127.0.0.1/v1", "model": "none"}


@dataclass(frozen=True, slots=True)
class ServedSamples:
    """The good samples of a benchmark, in the order of its dataset."""

    plan: Plan
    sandbox: SandboxConfig
    """Where its scorer runs programs."""
    samples: tuple[Sample, ...]
    n_bad_rows: int
    first_fault: str | None
    positions: dict[str, int] = field(default_factory=dict)
    """Position in `samples` by id."""

    def of(self, sample_id: object) -> Sample | None:
        """Return the sample with an id, None where there is none."""
        if not isinstance(sample_id, str) or sample_id not in self.positions:
            return None
        return self.samples[self.positions[sample_id]]

    def question_json(self, sample: Sample) -> JsonObject:
        """Return the question, and what an answer to it is scored with."""
        # The request as a run would make it, of which the messages are the question.
        body = first_request(
            self.plan.benchmark, sample, model="", protocol="chat", generation=Generation()
        )
        messages = loads(dumps((body or {})["messages"]))
        systems = [message["content"] for message in messages if message["role"] == "system"]
        return {
            "prompt": messages[-1]["content"],
            "expected_answer": expected_text(sample),
            "metadata": {**sample.metadata, SAMPLE_ID: sample.id},
            "messages": messages,
            "system": systems[0] if systems else None,
            "sandbox_spec": None,
        }

    def export_rows(self) -> Iterator[JsonObject]:
        """Yield a row for each sample as NeMo Gym collects answers to them."""
        for sample in self.samples:
            question = self.question_json(sample)
            yield {
                "responses_create_params": {"input": question["messages"]},
                "expected_answer": question["expected_answer"],
                "uuid": f"{self.plan.benchmark.name}-{sample.id}",
                "metadata": question["metadata"],
            }


def read_samples(
    name: str,
    *,
    dataset: str | None,
    samples_max: int | None,
    scoring: JsonObject | None = None,
    flags: Sequence[Assignment] = (),
    overrides: Sequence[str] = (),
) -> ServedSamples:
    """Return the samples of a benchmark.

    Args:
        name: As ``--bench`` takes it.
        dataset: Read instead of the benchmark's own.
        samples_max: Only the first so many rows.
        scoring: ``judge``, ``model_roles`` and ``sandbox`` of a run's configuration.
        flags: What flags set over it.
        overrides: ``key.path=value``, laid over that.

    Raises:
        UsageError: One answer to one question is not what it scores.
        NelError: The benchmark cannot be found, its dataset cannot be read, or it needs a judge and
            there is none.
    """
    entry = {"name": name, "dataset": dataset, "max_problems": samples_max}
    settings = {"benchmarks": [entry], "endpoint": _NO_ENDPOINT, **(scoring or {})}
    config = build_config(settings, given=flags, overrides=overrides, where="nel serve")
    (plan,) = make_plans(config)
    _check(plan)
    digests = Digests()
    samples: list[Sample] = []
    positions: dict[str, int] = {}
    n_bad = 0
    for row in stream_samples(plan, digests, positions.get):
        if row.content is None or row.fault is not None:
            n_bad += 1
            continue
        sample = decode_sample(row.sample_id, row.content)
        if sample.id in positions:
            raise UsageError(
                f'two rows of {plan.dataset.uri} have the id "{sample.id}"; each needs its own'
            )
        positions[sample.id] = len(samples)
        samples.append(sample)
    return ServedSamples(
        plan, config.sandbox, tuple(samples), n_bad, digests.first_fault, positions
    )


def expected_text(sample: Sample) -> str:
    """Return the target of a sample as text: itself, or as JSON."""
    return sample.target if isinstance(sample.target, str) else dumps(sample.target)


def _check(plan: Plan) -> None:
    """Refuse a benchmark whose scorer needs more, or other, than one answer."""
    benchmark = plan.benchmark
    problem = None
    if benchmark.loglikelihood:
        problem = "ranks choices by log-likelihood, and there is no answer to score"
    elif benchmark.response_field is not None:
        problem = "scores the answers in its own rows"
    elif benchmark.turns_field is not None:
        problem = "asks several turns, and one answer is scored here"
    elif plan.solver is not None:
        problem = "is answered in many steps, with tools, and one answer is scored here"
    if problem is not None:
        raise UsageError(f"{benchmark.name} cannot be served: it {problem}; use nel eval run")

"""The identity of a run: every setting that can change an answer or its score, and no other.

A resume compares identities field by field. Concurrency, timeouts and retries are absent on
purpose. A changed scorer does not refuse a resume: it scores the stored responses again and sends
nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from nel.config.redaction import redact_url
from nel.config.schema import BenchmarkConfig, JudgeConfig, ModelConfig, RunConfig
from nel.core.strict_json import dumps_bytes
from nel.core.texts import setting_text
from nel.errors import ResumeRefused

SCORING_FIELDS: Final = (
    "scorer.rules",
    "scoring.truncated",
    "scoring.broken_tests",
    "sandbox.limits",
    "sandbox.images",
    "sandbox.strict_verdicts",
)
"""Fields whose change scores stored responses again instead of refusing the resume."""
ALLOW_JUDGE: Final = "judge"
"""Among the allowed changes: another judge may judge all stored answers again."""
JUDGE_PREFIX: Final = "judge."
JUDGES_ADAPTED: Final = "judge.adapted"
"""By the label of a judge: what of its settings was changed before its first reply."""
PROMPT_TEMPLATE: Final = "prompt.template"
"""The text of the template that a run puts in the place of the benchmark's own."""
SHARD: Final = "shard"
"""The field that the shards of one run differ in, and a merged run does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The fields that must be equal for two results to be comparable."""

    fields: Mapping[str, object]
    """JSON values by flat names, such as ``endpoint.model``."""

    @property
    def digest(self) -> str:
        """Return ``sha256:`` and the digest of all fields."""
        encoded = dumps_bytes(dict(self.fields))
        return f"sha256:{hashlib.sha256(encoded).hexdigest()}"

    @property
    def shown(self) -> dict[str, object]:
        """Return the fields as artifacts have them, with what may be secret in the URL redacted."""
        fields = dict(self.fields)
        url = fields.get("endpoint.url")
        if isinstance(url, str):
            fields["endpoint.url"] = redact_url(url)
        return fields

    def changes(self, previous: Identity) -> dict[str, tuple[object, object]]:
        """Return the fields that differ as ``{name: (stored, now)}``."""
        names = sorted(set(self.fields) | set(previous.fields))
        pairs = {name: (previous.fields.get(name), self.fields.get(name)) for name in names}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def settings_fields(
    config: RunConfig, benchmark: BenchmarkConfig, *, eval_only: bool, protocol: str = "chat"
) -> dict[str, object]:
    """Return what the configuration, and the protocol, give to a benchmark's identity."""
    if eval_only or config.endpoint is None:
        return {"mode": "recorded responses", "scoring.truncated": benchmark.truncated}
    fields: dict[str, object] = {
        "mode": "generation",
        "endpoint.model": config.endpoint.model,
        "endpoint.url": config.endpoint.url,
        "endpoint.protocol": protocol,
        "system_prompt": benchmark.system_prompt,
        "scoring.truncated": benchmark.truncated,
    }
    if config.endpoint.query:
        fields["endpoint.query"] = config.endpoint.query
    for name, value in config.generation_of(benchmark).as_sent().items():
        fields[f"generation.{name}"] = value
    return fields


def stop_fields(config: RunConfig, benchmark: BenchmarkConfig) -> dict[str, object]:
    """Return what a stop rule, if any, gives to a benchmark's identity.

    With a rule, what else decides which questions are drawn is part of it too. A baseline counts by
    its name, not by its path.
    """
    conditions = config.stop.conditions
    if not conditions:
        return {}
    return {
        "stop.when": [condition.name for condition in conditions],
        "stop.seed": config.stop.seed,
        "stop.max_problems": benchmark.max_problems,
        "stop.repeats": benchmark.repeats,
    }


def sample_fields(benchmark: BenchmarkConfig) -> dict[str, object]:
    """Return what tells a sample of a benchmark from others, for its identity; else nothing."""
    if benchmark.sample is None:
        return {}
    return {"sample.size": benchmark.sample, "sample.seed": benchmark.sample_seed}


def shard_fields(config: RunConfig) -> dict[str, object]:
    """Return what tells a shard of a run from others, for its identity; else nothing."""
    return {} if config.shard is None else {SHARD: config.shard}


def sandbox_fields(config: RunConfig, languages: Sequence[str]) -> dict[str, object]:
    """Return what the sandbox gives to the identity of a benchmark that runs programs."""
    if not languages:
        return {}
    images = {name: image for name, image in config.sandbox.images.items() if name in languages}
    fields: dict[str, object] = {
        "sandbox.limits": config.sandbox.limits.model_dump(),
        "sandbox.images": images,
    }
    if config.sandbox.strict_verdicts:
        fields["sandbox.strict_verdicts"] = True
    return fields


def judge_fields(judge: JudgeConfig | None, roles: Mapping[str, ModelConfig]) -> dict[str, object]:
    """Return what the judges, if any, give to a benchmark's identity.

    The URL of a judge is not part of it: a judge that moved is still the same judge.

    Args:
        judge: The panel and how it judges.
        roles: Models that the scorer may ask by name.
    """
    fields: dict[str, object] = {}
    if judge is not None and judge.panel:
        settings = judge.model_dump(exclude={"panel", *judge.unset})
        fields = {f"{JUDGE_PREFIX}{name}": value for name, value in settings.items()}
        fields[f"{JUDGE_PREFIX}panel"] = [_model_named(member) for member in judge.panel]
    if roles:
        fields[f"{JUDGE_PREFIX}roles"] = {
            name: _model_named(member) for name, member in roles.items()
        }
    return fields


def _model_named(member: ModelConfig) -> dict[str, object]:
    return {"name": member.label, "model": member.model, "generation": member.generation.as_sent()}


def check_resume(
    name: str, previous: Identity, now: Identity, *, allowed: frozenset[str] = frozenset()
) -> bool:
    """Return whether the changes since a run was stored ask for its responses to be scored again.

    Args:
        allowed: Fields the user accepts as changed.

    Raises:
        ResumeRefused: A field that the stored answers depend on changed; the message lists each
            with both values.
    """
    changes = now.changes(previous)
    judging = {field for field in changes if field.startswith(JUDGE_PREFIX)}
    is_first_judge = not any(field.startswith(JUDGE_PREFIX) for field in previous.fields)
    rescoring = set(SCORING_FIELDS)
    # A run without judges has no judged answers that another judge would make incomparable.
    if is_first_judge or ALLOW_JUDGE in allowed:
        rescoring |= judging
    fatal = changes.keys() - rescoring - allowed
    if fatal:
        differences = "; ".join(
            f"{field}: {setting_text(before)} -> {setting_text(after)}"
            for field, (before, after) in changes.items()
            if field in fatal
        )
        step = "start a new run with nel eval run"
        if fatal == {"endpoint.url"}:
            step = "resume with --allow-url-change if the same model is served there"
        if fatal <= judging:
            step = "judge every stored answer again with --allow-judge-change"
        raise ResumeRefused(
            f"cannot resume {name}: the stored answers were made or judged with other settings"
            f" ({differences}); undo the change, or {step}"
        )
    return bool(changes.keys() & rescoring)

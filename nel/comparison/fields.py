"""What must be equal for two results to be comparable, in parts that a user can wave through.

A part that differs and is not waved through is an error that names the fields with both values.
Does no I/O.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from nel.comparison.lines import Ints
from nel.comparison.pairing import Pairing
from nel.comparison.sides import SideBenchmark
from nel.config.identity import JUDGE_PREFIX
from nel.core.texts import count_text, setting_text
from nel.errors import ConfigError, UsageError, did_you_mean

PARTS: Final = ("pairing", "dataset", "prompt", "scorer", "judge", "decoding", "repeats")
"""What ``--despite`` takes."""
NEVER_GO: Final = frozenset({"pairing", "dataset", "scorer", "judge"})
"""Parts whose difference a score does not survive: where one differs, a gate never says GO."""
# How the fields of an identity begin that belong to a part: "generation.temperature" is decoding.
_PREFIXES: Final = {
    "dataset": ("dataset.", "benchmark"),
    "prompt": ("prompt.", "system_prompt", "num_fewshot", "fewshot."),
    "scorer": ("scorer.", "scoring.", "sandbox."),
    "judge": (JUDGE_PREFIX,),
    "decoding": ("generation.", "endpoint.protocol", "endpoint.adapted", "loglikelihood", "mode"),
    "repeats": ("repeats",),
}
OF_ROWS: Final = ("dataset.sha256", "prompt.sha256")
"""Digests of all rows that were asked. Recorded answers are part of the rows, so where they are
scored, the samples are checked one by one instead."""
_COUNTED: Final = ("samples", "prompts")
"""Differences that are counted over both sides; the text stands with the candidate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One field that is not equal on both sides."""

    part: str
    field: str
    baseline: object
    candidate: object

    def __str__(self) -> str:
        """Return the field with both values, shortened."""
        if self.baseline is None and self.field in _COUNTED:
            return str(self.candidate)
        return f"{self.field}: {setting_text(self.baseline)} and {setting_text(self.candidate)}"


def check_parts(names: Sequence[str]) -> frozenset[str]:
    """Return what the user waves through.

    Raises:
        ConfigError: There is no such part.
    """
    for name in names:
        if name not in PARTS:
            hint = did_you_mean(name, PARTS, or_all="; known: ")
            raise ConfigError(f'--despite "{name}" names nothing that can differ{hint}')
    return frozenset(names)


def differences(
    baseline: SideBenchmark, candidate: SideBenchmark, pairing: Pairing
) -> list[Difference]:
    """Return every field that must be equal and is not, those of the samples included."""
    differing = []
    for name in sorted(_compared_fields(baseline, candidate)):
        identity_part = part_of(name)
        before, after = baseline.fields.get(name), candidate.fields.get(name)
        if identity_part is None or before == after:
            continue
        # Titles say more than digests, where they tell the two apart.
        titles = baseline.titles.get(name), candidate.titles.get(name)
        if None not in titles and titles[0] != titles[1]:
            before, after = titles
        differing.append(
            Difference(part=identity_part, field=name, baseline=before, candidate=after)
        )
    counted = _of_samples(pairing)
    # Which samples the two sides have is said once: by the digests of rows, or with the counts.
    is_named = any(difference.field in OF_ROWS for difference in differing)
    title, other_title = baseline.titles.get("samples"), candidate.titles.get("samples")
    if counted and counted[0].field == "samples" and not is_named and title != other_title:
        text = f"{counted[0].candidate}, {title} against {other_title}"
        counted[0] = replace(counted[0], candidate=text)
    return [*differing, *counted]


def unchecked_fields(baseline: SideBenchmark, candidate: SideBenchmark) -> list[str]:
    """Return the parts of which the files of at least one side say nothing."""
    # nel writes every field that applies: one that is absent there says that nothing was set.
    if baseline.kind == candidate.kind == "nel":
        return []
    parts = set(map(part_of, baseline.fields)) & set(map(part_of, candidate.fields))
    return [part for part in ("prompt", "scorer", "judge", "decoding") if part not in parts]


def other_differences(
    baseline: Mapping[str, object], candidate: Mapping[str, object]
) -> list[tuple[str, object, object]]:
    """Return the settings that differ, as ``(name, baseline, candidate)``."""
    differing = []
    for name in sorted({*baseline, *candidate}):
        before, after = baseline.get(name), candidate.get(name)
        if before != after:
            differing.append((name, before, after))
    return differing


def refuse_unequal(differing: Sequence[Difference], despite: Collection[str], what: str) -> None:
    """Raise UsageError where a part differs that was not waved through."""
    refused = [difference for difference in differing if difference.part not in despite]
    if not refused:
        return
    parts = list(dict.fromkeys(difference.part for difference in refused))
    details = "; ".join(map(str, refused))
    flags = " ".join(f"--despite {part}" for part in parts)
    raise UsageError(
        f"{what}: the two sides differ in {' and '.join(parts)} ({details}), so the scores differ"
        f" by more than the models; compare equal runs, or say {flags}"
    )


def _compared_fields(baseline: SideBenchmark, candidate: SideBenchmark) -> set[str]:
    """Return the fields to compare: of two kinds of results only those that both have."""
    names = {*baseline.fields, *candidate.fields}
    in_both = baseline.fields.keys() & candidate.fields.keys()
    if baseline.kind != candidate.kind:
        names = in_both - {"benchmark"}
    if baseline.recorded or candidate.recorded:
        names -= set(OF_ROWS)
    if baseline.recorded != candidate.recorded:  # how recorded answers were asked for is not known
        names &= in_both - {"mode"}
    return names


def part_of(name: str) -> str | None:
    """Return which part a field of the identity belongs to, None for the model and where it is."""
    for part, prefixes in _PREFIXES.items():
        if name.startswith(prefixes):
            return part
    return None


def _of_samples(pairing: Pairing) -> list[Difference]:
    """Return what differs between the samples: their content, their prompts, their repeats."""
    differing = []
    counts = {
        "with other content under the same id": pairing.n_changed,
        "only in the baseline": pairing.n_only_baseline,
        "only in the candidate": pairing.n_only_candidate,
    }
    samples = ", ".join(f"{count_text(n, 'sample')} {text}" for text, n in counts.items() if n)
    if samples:
        differing.append(
            Difference(part="dataset", field="samples", baseline=None, candidate=samples)
        )
    if pairing.n_prompts_differ:
        text = f"other bytes in {pairing.n_prompts_differ:,} of {len(pairing):,} prompts"
        differing.append(Difference(part="prompt", field="prompts", baseline=None, candidate=text))
    before, after = _span(pairing.baseline.n_repeats), _span(pairing.candidate.n_repeats)
    if before != after:
        differing.append(
            Difference(part="repeats", field="repeats", baseline=before, candidate=after)
        )
    return differing


def _span(counts: Ints) -> str:
    lowest, highest = int(counts.min()), int(counts.max())
    return str(lowest) if lowest == highest else f"{lowest} to {highest}"

"""What an endpoint calls itself, answer by answer.

A model that is exchanged during a run is two in one score.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from nel.core.texts import count_text
from nel.types import Response

_BUILDS_MAX: Final = 16
"""A server may call itself otherwise each time."""
_SHOWN_MAX: Final = 3


@dataclass(slots=True)
class _Build:
    n: int
    first: int
    last: int


class ServedBuilds:
    """Counts the names under which a benchmark's answers came, in the order of the dataset."""

    def __init__(self) -> None:
        self._builds: dict[tuple[str | None, str | None], _Build] = {}
        self._fallbacks: Counter[str] = Counter()

    def add(self, idx: int, response: Response) -> None:
        """Note the answer of a sample; one from the cache belongs to another run."""
        if response.cached:
            return
        name = response.model, response.system_fingerprint
        build = self._builds.get(name)
        if build is not None:
            build.n += 1
            build.last = idx
        elif name != (None, None) and len(self._builds) < _BUILDS_MAX:
            self._builds[name] = _Build(1, idx, idx)
        model = response.fallback
        if model is not None:
            has_room = model in self._fallbacks or len(self._fallbacks) < _BUILDS_MAX
            self._fallbacks[model if has_room else "others"] += 1

    def as_json(self) -> list[dict[str, object]]:
        """Return each name with its answers; up to 16, in the order in which they first came."""
        return [
            {
                "model": model,
                "system_fingerprint": fingerprint,
                "n": build.n,
                "first_problem_idx": build.first,
                "last_problem_idx": build.last,
            }
            for (model, fingerprint), build in self._builds.items()
        ]

    def fallbacks(self) -> list[str]:
        """Return a warning for each model that a gateway asked instead of the evaluated one."""
        texts = []
        for model, n in sorted(self._fallbacks.items()):
            texts.append(
                f"{count_text(n, 'answer')} came from a fallback of the gateway, {model}, and not from"
                " the model that was asked for"
            )
        return texts

    def warnings(self) -> list[str]:
        """Return a warning where the endpoint answered under more than one name."""
        if len(self._builds) <= 1:
            return []
        texts = [
            f"{_build_text(*name)} for {count_text(build.n, 'answer')} from problem_idx"
            f" {build.first}"
            for name, build in self._builds.items()
        ]
        builds = ", ".join(texts[:_SHOWN_MAX])
        if len(texts) > _SHOWN_MAX:
            builds += f" and {len(texts) - _SHOWN_MAX} more"
        models = {model for model, _ in self._builds}
        what = "models" if len(models) > 1 else "system fingerprints"
        return [
            (
                f"the endpoint answered under several {what}: {builds}; the model may have been"
                " exchanged during the run"
            )
        ]


def _build_text(model: str | None, fingerprint: str | None) -> str:
    if model is None:
        return f'"{fingerprint}"'
    return f'"{model}"' if fingerprint is None else f'"{model}" ("{fingerprint}")'

"""Each mechanism is taken out in turn, and the checks must see it: what they cannot see, they do not guard."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from nel.engine import asking, pipeline
from nel.engine.store_snapshot import Snapshot, StoredSample
from nel.engine.verdict import verdict_before_scoring
from nel.models import client as client_module
from nel.models.budget import BudgetSpent, Ledger, Spend
from nel.models.client import Client, Keep
from nel.models.faults import Fault
from nel.models.pacing import Gate
from nel.models.pacing.breaker import Breaker
from nel.models.protocols import parse_answer
from nel.types import ModelFailure, Outcome, Request, Response, Unscored
from tests.simulation.script import Script, script_of
from tests.simulation.seeds import run_seed

Patch = pytest.MonkeyPatch
_SEEDS_MAX = 12


def _count_before_commit(patch: Patch) -> None:
    """The permit is given back, and the answer counted, before it is on disk."""
    complete = Client.complete
    keeping: set[asyncio.Future[None]] = set()

    async def impatient(
        self: Client, request: Request, body: bytes, *, call: str = "", keep: Keep | None = None, parse: Any = None
    ) -> Any:
        async def keep_later(response: Response) -> None:
            if keep is not None:
                keeping.add(asyncio.ensure_future(keep(response)))

        return await complete(self, request, body, call=call, keep=keep_later, parse=parse)

    patch.setattr(Client, "complete", impatient)


def _score_faults_as_wrong(patch: Patch) -> None:
    """A sample that the endpoint lost counts as a wrong answer."""
    judge = verdict_before_scoring

    def harsh(response: Response, *, truncated: Any) -> ModelFailure | Unscored | None:
        verdict: Outcome | None = judge(response, truncated=truncated)
        return ModelFailure(kind="no_answer") if isinstance(verdict, Unscored) else verdict  # type: ignore[return-value]

    patch.setattr(pipeline, "verdict_before_scoring", harsh)
    patch.setattr(asking, "verdict_before_scoring", harsh)


def _hold_the_permit_while_waiting(patch: Patch) -> None:
    """Whoever waits for another try keeps others out."""

    rest = Gate.rest

    async def rest_inside(self: Gate, seconds: float) -> None:
        self.in_flight += 1
        try:
            await rest(self, seconds)
        finally:
            self.in_flight -= 1

    patch.setattr(Gate, "rest", rest_inside)


def _ignore_the_limit(patch: Patch) -> None:
    """The gate lets everybody in."""
    patch.setattr(Gate, "limit", property(lambda _: 10**6))


def _take_errors_for_answers(patch: Patch) -> None:
    """HTTP 200 is success, whatever the body says."""

    def trusting(protocol: Any, payload: Any) -> Response | Fault:
        if isinstance(payload, dict) and payload.get("error"):
            return Response(text=str(payload["error"]))
        return parse_answer(protocol, payload)

    patch.setattr(client_module, "parse_answer", trusting)


def _reserve_too_late(patch: Patch) -> None:
    """What a request may cost is looked at once it is over."""

    async def reserve(self: Ledger, body_bytes: int, tokens_max: int) -> Spend:
        if self._capped and self._reserved.requests == 0 and (name := self._exceeded(Spend())) is not None:
            raise BudgetSpent(self._reason(name, Spend()))
        worst = self._worst(body_bytes, tokens_max)
        self._reserved.add(replace(worst, tokens=0, cost=0.0))
        return replace(worst, tokens=0, cost=0.0)

    patch.setattr(Ledger, "reserve", reserve)


def _forget_what_is_stored(patch: Patch) -> None:
    """A resume asks every sample again."""

    def everything(self: Snapshot, benchmark: int, repeats: int) -> Iterator[tuple[StoredSample, int]]:
        for sample in self.samples(benchmark):
            yield from ((sample, repeat) for repeat in range(repeats))

    patch.setattr(Snapshot, "pending", everything)


def _never_open_the_breaker(patch: Patch) -> None:
    """An outage is just so many failures."""
    patch.setattr(Breaker, "failed", lambda *_, **__: None)


def _draw_keys_by_lot(patch: Patch) -> None:
    """Every attempt has an idempotency key of its own."""
    attempt = Client._attempt

    async def with_another_key(self: Client, one: Any, permit: Any) -> Response | Fault:
        one.headers["Idempotency-Key"] = secrets.token_hex(16)
        return await attempt(self, one, permit)

    patch.setattr(Client, "_attempt", with_another_key)


def _has_kills(script: Script) -> bool:
    return script.has_kills and script.commit_seconds >= 1 and script.sessions[0].trouble.startswith("kill")


def _is_faulty(script: Script) -> bool:
    return script.faults >= 0.3 and script.cap is None


def _has_poison(script: Script) -> bool:
    return "poison" in script.kinds


def _has_outages(script: Script) -> bool:
    return script.profile == "outages" and script.cap is None


def _has_cap(script: Script) -> bool:
    return script.cap is not None and script.last_concurrency > 4 and script.profile != "outages"


_MUTATIONS: list[tuple[Callable[[Patch], None], Callable[[Script], bool], tuple[str, ...]]] = [
    (_count_before_commit, _has_kills, ("I4",)),
    (_score_faults_as_wrong, _has_poison, ("I1",)),
    (_hold_the_permit_while_waiting, _is_faulty, ("I5",)),
    (_ignore_the_limit, _is_faulty, ("I5",)),
    (_take_errors_for_answers, _is_faulty, ("I1",)),
    (_reserve_too_late, _has_cap, ("budget",)),
    (_forget_what_is_stored, _has_kills, ("I4",)),
    (_never_open_the_breaker, _has_outages, ("outage",)),
    (_draw_keys_by_lot, _is_faulty, ("keys",)),
]


@pytest.mark.parametrize(("mutate", "suits", "named"), _MUTATIONS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_mechanism_that_is_missing_is_seen(
    mutate: Callable[[Patch], None], suits: Callable[[Script], bool], named: tuple[str, ...], monkeypatch: Patch
) -> None:
    """Without it, one of a handful of worlds breaks the invariant that it upholds."""
    seeds = [seed for seed in range(400) if suits(script_of(seed))][:_SEEDS_MAX]
    mutate(monkeypatch)
    seen: list[str] = []
    for seed in seeds:
        seen += run_seed(seed)
        if any(line.startswith(named) for line in seen):
            return
    pytest.fail(f"no violation of {' or '.join(named)} in the seeds {seeds}; seen: {seen[:3]}")

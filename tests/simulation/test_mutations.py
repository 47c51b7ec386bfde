"""Each mechanism is taken out in turn, and the checks must see it: what they cannot see, they do not guard."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from nel.config.schema import Price
from nel.engine import generate, pipeline
from nel.engine.judging import judges
from nel.engine.judging.delegation import JudgeDelegation
from nel.engine.judging.endpoints import JudgeEndpoint, Slots
from nel.engine.judging.judges import Judges
from nel.engine.judging.plugin_threads import PluginThreads
from nel.engine.judging.replies import read_reply
from nel.engine.response_outcomes import verdict_before_scoring
from nel.engine.scorers.call import ScoringContext, ScoringTask
from nel.engine.store.codec import decode_response
from nel.engine.store.pending import Pending
from nel.engine.store.snapshot import Snapshot, StoredSample
from nel.models import client as client_module
from nel.models.budget import BudgetSpent, Ledger, Spend, cost_of
from nel.models.client import Client
from nel.models.faults import Fault
from nel.models.pacing import Gate
from nel.models.pacing.circuit_breaker import CircuitBreaker
from nel.models.protocols import parse_answer
from nel.types import ModelFailure, Outcome, Response, Unscored, Usage
from tests.simulation.mutating import Mutate, Patch, Suits, has_moved, violations
from tests.simulation.parts import SimulatedStore
from tests.simulation.script import Script

_LONG = 200.0
"""Seconds of an outage that fills all the room there is."""


def _count_before_commit(patch: Patch) -> None:
    """The permit is given back, and the answer counted, before it is on disk."""
    put_response, put_call = SimulatedStore.put_response, SimulatedStore.put_call
    patch.setattr(SimulatedStore, "put_response", lambda self, *row, **more: _done(put_response(self, *row, **more)))
    patch.setattr(SimulatedStore, "put_call", lambda self, *row: _done(put_call(self, *row)))


def _done(_: object) -> asyncio.Future[None]:
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    done.set_result(None)
    return done


def _score_faults_as_wrong(patch: Patch) -> None:
    """A sample that the endpoint lost counts as a wrong answer."""
    judge = verdict_before_scoring

    def harsh(response: Response, *, truncated: Any, sample: Any = None) -> ModelFailure | Unscored | None:
        verdict: Outcome | None = judge(response, truncated=truncated, sample=sample)
        return ModelFailure(kind="no_answer") if isinstance(verdict, Unscored) else verdict  # type: ignore[return-value]

    patch.setattr(pipeline, "verdict_before_scoring", harsh)
    patch.setattr(generate, "verdict_before_scoring", harsh)


def _hold_the_permit_while_waiting(patch: Patch) -> None:
    """A request that waits for a retry keeps its permit."""

    back_off = Gate.back_off

    async def back_off_inside(self: Gate, seconds: float) -> None:
        self.in_flight += 1
        try:
            await back_off(self, seconds)
        finally:
            self.in_flight -= 1

    patch.setattr(Gate, "back_off", back_off_inside)


def _ignore_the_limit(patch: Patch) -> None:
    """The gate lets every request through."""
    patch.setattr(Gate, "limit", property(lambda _: 10**6))


def _take_errors_for_answers(patch: Patch) -> None:
    """HTTP 200 is success, whatever the body says."""

    def trusting(protocol: Any, payload: Any, **more: Any) -> Response | Fault:
        if isinstance(payload, dict) and payload.get("error"):
            return Response(text=str(payload["error"]))
        return parse_answer(protocol, payload, **more)

    patch.setattr(client_module, "parse_answer", trusting)


def _reserve_too_late(patch: Patch) -> None:
    """What a request may cost is looked at once it is over."""

    async def reserve(self: Ledger, body_bytes: int, tokens_max: int, price: Price | None) -> Spend:
        if self._capped and self._reserved.requests == 0 and (name := self._exceeded(Spend())) is not None:
            raise BudgetSpent(self._reason(name, Spend()))
        usage = Usage(prompt_tokens=body_bytes, completion_tokens=tokens_max)
        worst = Spend(1, body_bytes + tokens_max, cost_of(usage, price) or 0.0)
        self._reserved.add(replace(worst, tokens=0, cost=0.0))
        return replace(worst, tokens=0, cost=0.0)

    patch.setattr(Ledger, "reserve", reserve)


def _forget_what_is_stored(patch: Patch) -> None:
    """A resume asks every sample again."""

    def everything(
        self: Pending, benchmark: int, repeats: int, *, first: int = 0
    ) -> Iterator[tuple[StoredSample, int]]:
        for sample in self._snapshot.samples(benchmark, first=first):
            yield from ((sample, repeat) for repeat in range(repeats))

    patch.setattr(Pending, "samples", everything)


def _never_open_the_breaker(patch: Patch) -> None:
    """An outage is just so many failures."""
    patch.setattr(CircuitBreaker, "failed", lambda *_, **__: None)


def _draw_keys_by_lot(patch: Patch) -> None:
    """Every attempt has an idempotency key of its own."""
    attempt = Client._attempt

    async def with_another_key(self: Client, one: Any, permit: Any) -> Response | Fault:
        one.headers["Idempotency-Key"] = secrets.token_hex(16)
        return await attempt(self, one, permit)

    patch.setattr(Client, "_attempt", with_another_key)


def _commit_what_is_parked(patch: Patch) -> None:
    """A sample that waits for a judge which is down is unscored by it."""
    settled = JudgeDelegation.finalize

    def final(self: JudgeDelegation, item: ScoringTask, outcome: Outcome) -> Outcome:
        return settled(self, item, outcome) or outcome

    patch.setattr(JudgeDelegation, "finalize", final)


def _believe_the_scorer(patch: Patch) -> None:
    """What a scorer returns counts, whether its judge failed or not."""
    patch.setattr(JudgeDelegation, "finalize", lambda self, item, outcome: outcome)


def _use_unreadable_replies_again(patch: Patch) -> None:
    """A reply that is stored is the reply."""
    kept = Judges._stored_or_asked

    async def stored(self: Judges, sample: Any, member: Any, call: Any) -> Any:
        known = self._snapshot.call(*sample.sample_key, call.key)
        if known is not None:
            response = decode_response(known)
            return response, await read_reply(call.question, response, PluginThreads(timeout_seconds=1))
        return await kept(self, sample, member, call)

    patch.setattr(Judges, "_stored_or_asked", stored)


def _ask_again_in_the_same_session(patch: Patch) -> None:
    """A sample that was parked is judged from the start: replies that could not be read are paid for again."""
    patch.setattr(Snapshot, "session_of_call", lambda *_: None)


def _never_reject_waiters(patch: Patch) -> None:
    """Samples that wait for a judge that is down keep waiting."""
    patch.setattr(Slots, "reject_waiters", lambda self: None)
    patch.setattr(JudgeEndpoint, "is_down", property(lambda self: False))
    patch.setattr(JudgeEndpoint, "is_stalled", property(lambda self: False))


def _leave_no_slots_beyond_judges(patch: Patch) -> None:
    """Samples that wait for judges take the slots of those that are to be asked and scored."""
    patch.setattr(Judges, "n_slots", 0)


def _count_verdicts_before_they_are_kept(patch: Patch) -> None:
    """A judge's reply is used, and its permit given back, before it is on disk."""
    put_call = SimulatedStore.put_call

    def at_once(self: SimulatedStore, benchmark: int, idx: int, repeat: int, key: str, *texts: str) -> Any:
        written = put_call(self, benchmark, idx, repeat, key, *texts)
        return _done(written) if key.startswith(judges.KEY_PREFIX) else written

    patch.setattr(SimulatedStore, "put_call", at_once)


def _end_well_without_the_judge(patch: Patch) -> None:
    """A judge that is down for good does not keep a session from being done."""
    patch.setattr(Judges, "disabled", None)


def _judge_what_is_parked_never(patch: Patch) -> None:
    """Samples that were parked are left where they are."""

    async def forget(self: Any, scoring: Any) -> None:
        return None

    patch.setattr(pipeline.Pipeline, "_judge_parked", forget)


def _begin_again_where_it_was(patch: Patch) -> None:
    """A scorer that begins again counts on from what it had asked before."""
    patch.setattr(ScoringTask, "restarted", lambda self: self)


def _ask_in_parallel_to_the_earlier_scoring(patch: Patch) -> None:
    """A scorer that begins again does not wait for what was asked before."""
    patch.setattr(ScoringContext, "single_flight", lambda self, key: nullcontext())


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


def _is_judged(script: Script) -> bool:
    return script.judging is not None and script.cap is None


def _has_mute(script: Script) -> bool:
    return script.judging is not None and script.has_kills and "prose" in script.judging.tempers


def _hides(script: Script) -> bool:
    return script.judging is not None and any(
        way == "hides" and script.judging.fault(idx) for idx, way in enumerate(script.judging.ways)
    )


def _has_judges_down(script: Script) -> bool:
    return script.judging is not None and script.judging.down_before > 0 and script.cap is None


def _is_narrow(script: Script) -> bool:
    judges = script.judging
    if judges is None or script.cap is not None or not judges.narrow:
        return False
    return judges.down_before > 0 or any(one.end - one.begin > _LONG for one in judges.outages)


def _hesitates_in_outages(script: Script) -> bool:
    return script.judging is not None and bool(script.judging.outages) and "hesitant" in script.judging.tempers


def _is_thronged(script: Script) -> bool:
    return script.judging is not None and script.judging.thronged and script.cap is None


def _has_judged_kills(script: Script) -> bool:
    return script.judging is not None and _has_kills(script)


def _restarts(script: Script) -> bool:
    return script.judging is not None and script.judging.restarts and "hangs" in script.kinds


_MUTATIONS: list[tuple[Mutate, Suits, tuple[str, ...]]] = [
    (_count_before_commit, _has_kills, ("I4",)),
    (_score_faults_as_wrong, _has_poison, ("I1",)),
    (_hold_the_permit_while_waiting, _is_faulty, ("I5",)),
    (_ignore_the_limit, _is_faulty, ("I5",)),
    (_take_errors_for_answers, _is_faulty, ("I1",)),
    (_reserve_too_late, _has_cap, ("budget",)),
    (_forget_what_is_stored, _has_kills, ("I4",)),
    (_never_open_the_breaker, _has_outages, ("outage",)),
    (_draw_keys_by_lot, _is_faulty, ("keys",)),
    (_commit_what_is_parked, _is_judged, ("judges",)),
    (_believe_the_scorer, _hides, ("I1",)),
    (_use_unreadable_replies_again, _has_mute, ("judges",)),
    (_ask_again_in_the_same_session, _hesitates_in_outages, ("I4",)),
    (_never_reject_waiters, _is_narrow, ("fault 38",)),
    (_leave_no_slots_beyond_judges, _is_thronged, ("fault 38",)),
    (_count_verdicts_before_they_are_kept, _has_judged_kills, ("I4", "I5")),
    (_end_well_without_the_judge, _has_judges_down, ("judges",)),
    (_judge_what_is_parked_never, _is_judged, ("I1", "judges")),
    (_begin_again_where_it_was, _restarts, ("I3", "I4")),
    (_ask_in_parallel_to_the_earlier_scoring, _restarts, ("I4",)),
]


def test_every_mechanism_is_where_it_is_taken_out() -> None:
    """A mechanism that moves is followed here; the worlds themselves run in the slow tier alone."""
    assert [mutate.__name__ for mutate, _, _ in _MUTATIONS if has_moved(mutate)] == []


@pytest.mark.slow
@pytest.mark.parametrize(("mutate", "suits", "named"), _MUTATIONS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_mechanism_that_is_missing_is_seen(
    mutate: Mutate, suits: Suits, named: tuple[str, ...], monkeypatch: Patch
) -> None:
    """Without it, one of a handful of worlds breaks the invariant that it upholds."""
    assert violations(mutate, suits, named, monkeypatch) != []

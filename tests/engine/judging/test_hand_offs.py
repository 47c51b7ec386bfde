"""A question to a judge passes few functions on its way to the client."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path

from nel.config.schema import RunConfig
from nel.engine.planning.resolution import make_plans
from nel.engine.progress import Progress
from nel.engine.run import run_session
from nel.engine.session_spec import Runtime, SessionSpec
from nel.models.faults import Fault
from nel.models.streams import AnswerStream
from nel.models.transport import Fetched
from tests.work_per_sample.benchmarks import InstantEndpoint, settings_of

_HELPERS = {"_gather", "watch"}
"""Runs several of the next at once; looks for judges that are down."""


class _Watched(InstantEndpoint):
    """Notes the functions of the engine that a judge's question has come through."""

    def __init__(self) -> None:
        self.passed: set[str] = set()

    async def fetch(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], stream: AnswerStream | None = None
    ) -> Fetched | Fault:
        if body is not None and b"GRADE" in body:
            codes = [getattr(task.get_coro(), "cr_code", None) for task in asyncio.all_tasks()]
            waiting = [code for code in codes if code is not None and "/engine/judging/" in code.co_filename]
            frame = sys._getframe()
            while frame.f_back is not None:
                frame = frame.f_back
                if "/nel/engine/" in frame.f_code.co_filename:
                    waiting.append(frame.f_code)
            self.passed |= {code.co_name for code in waiting} - _HELPERS
        return await super().fetch(method, url, body, headers, stream)


def test_a_question_passes_six_functions(tmp_path: Path) -> None:
    """From the scoring stage, which has an answer that its scorer leaves to the judges, to the client."""
    config = RunConfig.model_validate(settings_of("judged", tmp_path, 1))
    run_dir = tmp_path / "runs" / "run"
    run_dir.mkdir(parents=True)
    transport = _Watched()
    spec = SessionSpec(
        run_dir=run_dir,
        config=config,
        plans=make_plans(config),
        progress=Progress(),
        runtime=Runtime(transport=transport),
    )
    assert run_session(spec).exit_code == 0
    road = transport.passed - {"run", "run_session", "run_beside_others"}
    assert road == {"verdict", "judge", "_opinion", "_reply", "exchange", "complete"}

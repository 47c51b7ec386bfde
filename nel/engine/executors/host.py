"""A host: a process that scores or runs programs for a run elsewhere, told by standard input.

It builds the benchmarks of the run's configuration with what is installed here, says what they are,
and goes on until its input closes. Scorers run as they do in a local run: in worker processes that
are killed and restarted.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import queue
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, BinaryIO, Final

from nel.authoring.benchmark import Benchmark
from nel.config.load import build_config
from nel.core.event_loop import run
from nel.engine.executors.likeness import environment
from nel.engine.executors.wire import (
    Finished,
    Ran,
    RunProgram,
    ScoreAnswer,
    ScorerQuestion,
    ToHost,
    ToRun,
    pack,
    pack_json,
    read_packet,
    unpack_from_run,
    unpack_json,
    write_packet,
)
from nel.engine.planning.resolution import benchmark_to_score
from nel.engine.scorers.call import Result, ScoringContext, ScoringTask
from nel.engine.scorers.channel import ScorerReply
from nel.engine.scorers.dispatch import Scorers
from nel.engine.scorers.identity import scorer_digest
from nel.errors import NelError, SandboxError
from nel.sandbox import Sandbox
from nel.scoring.broken_tests import take_broken_tests
from nel.types import SampleKey

ALIVE_SECONDS: Final = 2.0
"""Between two signs of life."""


class _Output:
    """Writes packets from a thread of its own, so that a slow reader blocks no scorer."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._packets: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def send(self, *messages: ToRun) -> None:
        self._packets.put(pack(messages))

    def close(self) -> None:
        self._packets.put(None)
        self._thread.join(timeout=5)
        if not self._thread.is_alive():  # else the run reads nothing, and this would wait for it
            with suppress(OSError):  # the run is gone
                self._stream.close()

    def _write(self) -> None:
        while (packet := self._packets.get()) is not None:
            try:
                write_packet(self._stream, packet)
            except OSError:
                return  # the run is gone, and the input ends, too


class _ScoringHost:
    """Scores what arrives, and passes on what scorers ask."""

    def __init__(self, benchmarks: Sequence[Benchmark], seconds: float, output: _Output) -> None:
        self._benchmarks = benchmarks
        self._seconds = seconds
        self._output = output
        self._scorers = Scorers(benchmarks)
        self._attempts: dict[int, tuple[ScoringContext, int]] = {}
        self._received: dict[int, float] = {}
        self._n_asking: Counter[int] = Counter()
        self._questions: dict[int, asyncio.Future[object]] = {}
        self._question_numbers = itertools.count(1)

    def on_message(self, message: ToHost) -> None:
        if isinstance(message, ScoreAnswer):
            task = ScoringTask(
                key=SampleKey(message.number, 0, message.repeat),
                sample=message.sample,
                response=message.response,
                benchmark=self._benchmarks[message.benchmark],
                conversation=message.conversation,
            )
            self._attempts[message.number] = task.context, 0
            self._received[message.number] = time.monotonic()
            self._scorers.put(task)
        elif isinstance(message, ScorerReply):
            question = self._questions.pop(message.question, None)
            if question is None or question.done():
                return
            if message.error is None:
                question.set_result(message.value)
            else:
                question.set_exception(message.error)

    async def work(self) -> None:
        await self._scorers.run(
            timeout_seconds=self._seconds, deliver=self._deliver, answer=self._answer
        )

    def close(self) -> None:
        self._scorers.close()

    def _deliver(self, scored: list[tuple[ScoringTask, Result]]) -> None:
        now = time.monotonic()
        for task, _ in scored:
            self._attempts.pop(task.key.benchmark, None)
        seconds = max(now - self._received.pop(task.key.benchmark, now) for task, _ in scored)
        is_dry = len(self._attempts) <= len(self._n_asking)  # all others wait for the run
        results = [(task.key.benchmark, result) for task, result in scored]
        self._output.send(Finished(results, seconds, is_dry))

    async def _answer(self, task: ScoringTask, what: str, payload: object) -> object:
        context, attempt = self._attempts.get(task.key.benchmark, (task.context, 0))
        if task.context is not context:  # its worker process died meanwhile, and it was restarted
            attempt += 1
            self._attempts[task.key.benchmark] = task.context, attempt
        number = next(self._question_numbers)
        self._questions[number] = asyncio.get_running_loop().create_future()
        self._n_asking[task.key.benchmark] += 1
        self._output.send(ScorerQuestion(number, task.key.benchmark, attempt, what, payload))
        try:
            return await self._questions[number]
        finally:
            self._n_asking[task.key.benchmark] -= 1
            self._n_asking += Counter()  # leaves out those that ask nothing now


class _SandboxHost:
    def __init__(self, sandbox: Sandbox, output: _Output) -> None:
        self._sandbox = sandbox
        self._output = output

    def on_message(self, message: ToHost) -> None:
        if isinstance(message, RunProgram):
            future = self._sandbox.submit(message.program)
            future.add_done_callback(partial(self._on_ran, message.number))

    async def work(self) -> None:
        await asyncio.Event().wait()

    def close(self) -> None:
        self._sandbox.close()

    def _on_ran(self, number: int, ran: Any) -> None:
        error = ran.exception()
        if error is not None and not isinstance(error, NelError):
            error = SandboxError(str(error), kind="internal")
        self._output.send(Ran(number, error or ran.result()))


def main() -> None:
    """Serve a run until the standard input closes."""
    stdin, stdout = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what plugins print is not a packet
    first_packet = read_packet(stdin)
    if first_packet is None:
        stdout.close()
        return
    output = _Output(stdout)
    start = unpack_json(first_packet)
    hello: dict[str, Any] = environment()
    host: _ScoringHost | _SandboxHost | None = None
    try:
        # Where there is no such folder, files that a scorer names there are missed by name.
        with suppress(OSError):
            os.chdir(start["cwd"])
        os.environ.update(start["variables"])
        take_broken_tests(start["broken_tests"])
        host = _host_of(start, output, hello)
    except NelError as error:
        hello["error"] = str(error)
    except Exception as error:  # noqa: BLE001 - of another version of nel, or of a plugin; the run says it
        hello["error"] = f"{type(error).__name__}: {error}"
    write_packet(stdout, pack_json(hello))
    if host is None:
        stdout.close()
        return
    output.start()
    try:
        run(_serve(host, stdin, output))
    finally:
        host.close()
        output.close()


def _host_of(
    start: dict[str, Any], output: _Output, hello: dict[str, Any]
) -> _ScoringHost | _SandboxHost:
    config = build_config(start["config"], where="the run's configuration")
    if start["kind"] == "sandbox":
        sandbox = Sandbox(config.sandbox)
        info = sandbox.check(start["languages"])
        hello["engine"] = info.as_json()
        hello["capacity"] = 2 * (config.sandbox.workers or info.cpus)
        return _SandboxHost(sandbox, output)
    benchmarks = [benchmark_to_score(config, entry) for entry in config.benchmarks]
    hello["digests"] = [scorer_digest(benchmark) for benchmark in benchmarks]
    return _ScoringHost(benchmarks, config.engine.scorer_timeout_seconds, output)


async def _serve(host: _ScoringHost | _SandboxHost, stdin: BinaryIO, output: _Output) -> None:
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    threading.Thread(
        target=_read,
        args=(
            stdin,
            lambda packet: loop.call_soon_threadsafe(_take, host, packet),
            partial(_signal, loop, over),
        ),
        daemon=True,
    ).start()
    tasks = [asyncio.create_task(work) for work in (over.wait(), host.work(), _show_life(output))]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _read(stdin: BinaryIO, take: Callable[[bytes], object], end: Callable[[], object]) -> None:
    try:
        while (packet := read_packet(stdin)) is not None:
            take(packet)
    finally:
        end()


def _signal(loop: asyncio.AbstractEventLoop, over: asyncio.Event) -> None:
    with suppress(RuntimeError):  # the loop is closed already
        loop.call_soon_threadsafe(over.set)


def _take(host: _ScoringHost | _SandboxHost, packet: bytes) -> None:
    for message in unpack_from_run(packet):
        host.on_message(message)


async def _show_life(output: _Output) -> None:
    while True:
        output.send()
        await asyncio.sleep(ALIVE_SECONDS)


if __name__ == "__main__":
    main()

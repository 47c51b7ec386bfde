"""Warm containers and the threads that feed them: many programs at once, each alone in its container.

A fault of the machinery is retried in a fresh container and then raised, never scored. A program that takes its
container down again and again, while a known-good one runs, has failed; otherwise it would have a way out of the
denominator.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from nel.errors import NelError, SandboxError
from nel.sandbox.container import Container
from nel.sandbox.engine import EngineInfo, connect, info_of, is_outage, speaking
from nel.sandbox.languages import PYTHON, Language, find_language
from nel.sandbox.owners import reap
from nel.sandbox.rehearsals import Rehearsals
from nel.sandbox.steps import judge
from nel.sandbox.types import Limits, Program, SandboxSettings, Verdict

if TYPE_CHECKING:
    import docker

_JOBS_MAX: Final = 200
_AGE_SECONDS_MAX: Final = 600.0
_CONTAINERS_A_WORKER: Final = 2
_TRIES_MAX: Final = 2
_BACKOFF_SECONDS: Final = 0.25
_BACKOFF_SECONDS_MAX: Final = 5.0
_RETRIED: Final = ("died", "tests_died", "overloaded")
_CANARY: Final = Program(source="def double(x):\n    return 2 * x", tests="assert double(4) == 8", entry_point="double")


class Sandbox:
    """Runs programs in hardened containers. Thread-safe; nothing is started before it is needed."""

    def __init__(self, settings: SandboxSettings | None = None) -> None:
        """Prepare a sandbox; the engine is not asked for anything yet."""
        self.settings = settings or SandboxSettings()
        self._queue: queue.SimpleQueue[tuple[Program, Future[Verdict]] | None] = queue.SimpleQueue()
        self._pid = os.getpid()
        self._threads: list[threading.Thread] = []
        self._workers: list[_Worker] = []
        self._lock = threading.Lock()
        self._outage: tuple[float, SandboxError] | None = None
        self.outages = 0
        """How often the engine did not answer."""
        self.rehearsals = Rehearsals()
        """What the tests of tasks do without a program."""
        self._cpus: int | None = None
        self._unlimited: tuple[str, ...] = ()
        self.is_closed = False

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, program: Program) -> Verdict:
        """Run a program and return its verdict.

        Raises:
            SandboxError: The machinery failed; its `kind` says how. Never the program's fault.
            DatasetError: The tests themselves are of no use.
        """
        return self.submit(program).result()

    def submit(self, program: Program) -> Future[Verdict]:
        """Queue a program; the future gives what `run` does."""
        future: Future[Verdict] = Future()
        with self._lock:
            if self.is_closed:
                raise SandboxError("the sandbox is closed", kind="closed")
            if os.getpid() != self._pid:
                raise SandboxError("the sandbox belongs to the process this one was forked from", kind="closed")
            self._queue.put((program, future))
            self._grow(1)
        return future

    def check(self, wanted: Sequence[str] = (PYTHON,)) -> EngineInfo:
        """Make sure that the engine answers, has the images and runs a known-good program; return what it is.

        Raises:
            SandboxError: It does not, with the next step.
        """
        client = connect(self.settings.docker_host)
        try:
            info = self._check_engine(client)
            images = {}
            for name in wanted:
                language = find_language(name)
                images[name] = self._check_image(client, language)
                self._canary(client, language)
            return replace(info, images=images)
        finally:
            client.close()

    def _check_engine(self, client: docker.DockerClient) -> EngineInfo:
        info = info_of(client)
        info.check_limits(allow_unlimited=self.settings.allow_unlimited)
        self._unlimited = info.lacks
        return info

    def close(self) -> None:
        """End all containers; programs that wait are given up."""
        if os.getpid() != self._pid:
            return
        with self._lock:
            self.is_closed = True
            threads, self._threads = self._threads, []
        for _ in threads:
            self._queue.put(None)
        for worker in list(self._workers):
            worker.hang_up()
        for thread in threads:
            thread.join(timeout=10)

    def image_of(self, language: Language) -> str:
        """Return the image that programs of a language run in."""
        return self.settings.images.get(language.name) or language.image

    def _grow(self, count: int) -> None:
        """Start so many threads more, up to the size; the lock is held."""
        size = self.settings.workers or self._cpus or 1
        for _ in range(min(count, size - len(self._threads))):
            thread = threading.Thread(target=self._work, name=f"sandbox-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _check_image(self, client: docker.DockerClient, language: Language) -> str:
        """Return the tag and the digest of a language's image."""
        image = self.image_of(language)
        try:
            with speaking():
                return f"{image}@{client.images.get(image).id}"
        except SandboxError as error:
            if error.kind != "no_image":
                raise
            raise SandboxError(
                f"there is no image {image} for {language.title}; build it with: nel sandbox build {language.name}",
                kind="no_image",
            ) from None

    def _canary(self, client: docker.DockerClient, language: Language) -> None:
        """Run a known-good program in a container of its own; for other languages see that the container comes up."""
        container = self._new(client, language)
        try:
            if language.has_zygote:
                verdict = judge(_CANARY, language, self.settings.limits, _asker(container), self.rehearsals)
                if not verdict.passed:
                    raise SandboxError(
                        f"a known-good program is judged {verdict.verdict} in {self.image_of(language)} "
                        f"({verdict.detail}); rebuild the image with: nel sandbox build {language.name}",
                        kind="image_broken",
                    )
        finally:
            container.remove()

    def _new(self, client: docker.DockerClient, language: Language, limits: Limits | None = None) -> Container:
        memory = None if limits is None else limits.memory_mb
        settings = self.settings
        return Container(
            client,
            language,
            image=self.image_of(language),
            memory_mb=memory,
            runtime=settings.runtime,
            unlimited=self._unlimited,
        )

    def _work(self) -> None:
        worker = _Worker(self)
        self._workers.append(worker)
        try:
            while (item := self._queue.get()) is not None:
                program, future = item
                if not future.set_running_or_notify_cancel():
                    continue
                if self.is_closed:
                    future.set_exception(SandboxError("the sandbox was closed", kind="closed"))
                else:
                    try:
                        future.set_result(worker.run(program))
                    except NelError as error:
                        future.set_exception(error)
                    except BaseException as error:  # noqa: BLE001 - re-raised where the result is awaited
                        future.set_exception(SandboxError(f"{type(error).__name__}: {error}", kind="internal"))
        finally:
            worker.close()

    def _meet(self, client: docker.DockerClient) -> None:
        """See, once, how many CPUs the engine has, and remove what killed runs left there."""
        with self._lock:
            if self._cpus is not None:
                return
        cpus = self._check_engine(client).cpus
        with self._lock:
            self._cpus = cpus
            if not self.is_closed:
                self._grow(min(cpus, self._queue.qsize()))
        reap(client)

    def _while_engine_lasts(self, attempt: Callable[[], Container]) -> Container:
        """Return what the attempt gives; an engine that is away is waited for, once for all workers."""
        started = time.monotonic()
        wait = _BACKOFF_SECONDS
        while True:
            outage = self._outage
            if outage is not None and time.monotonic() < outage[0]:
                raise SandboxError(str(outage[1]), kind=outage[1].kind)
            try:
                found = attempt()
            except SandboxError as error:
                if not is_outage(error) or error.kind == "no_image":
                    raise
                self.outages += 1
                if time.monotonic() - started + wait > self.settings.engine_wait_seconds:
                    self._outage = (time.monotonic() + _BACKOFF_SECONDS_MAX, error)
                    raise
            else:
                self._outage = None
                return found
            time.sleep(wait)
            wait = min(2 * wait, _BACKOFF_SECONDS_MAX)


class _Worker:
    """One thread's containers, by language and memory."""

    def __init__(self, owner: Sandbox) -> None:
        self._owner = owner
        self._client: docker.DockerClient | None = None
        self._containers: dict[tuple[str, int | None], Container] = {}

    def run(self, program: Program) -> Verdict:
        language = find_language(program.language)
        limits = program.limits or self._owner.settings.limits
        failures: list[SandboxError] = []
        outages = self._owner.outages
        while True:
            container = self._container(language, limits)
            if self._owner.is_closed:
                raise SandboxError("the sandbox was closed", kind="closed")
            if self._owner.outages != outages:
                failures, outages = [], self._owner.outages  # the engine was unavailable: no program is at fault
            try:
                return self._run_in(container, program, language, limits)
            except SandboxError as error:
                self._discard(container)
                if self._owner.is_closed:
                    raise SandboxError("the sandbox was closed", kind="closed") from None
                if error.kind not in _RETRIED:
                    raise
                failures.append(error)
                if len(failures) >= _TRIES_MAX:
                    return self._blame(program, language, limits, failures)

    def _run_in(self, container: Container, program: Program, language: Language, limits: Limits) -> Verdict:
        is_clean = True

        def ask(job: dict[str, object], seconds: float) -> Mapping[str, Any]:
            nonlocal is_clean
            reply = container.ask(job, seconds=seconds)
            is_clean = is_clean and bool(reply["is_clean"])
            return reply

        try:
            return judge(program, language, limits, ask, self._owner.rehearsals)
        finally:
            age = time.monotonic() - container.started
            if not is_clean or container.jobs >= _JOBS_MAX or age > _AGE_SECONDS_MAX:
                self._discard(container)

    def _blame(self, program: Program, language: Language, limits: Limits, failures: list[SandboxError]) -> Verdict:
        """Return the program's failure where a known-good program runs; raise where the machinery is to blame."""
        last = failures[-1]
        if last.kind == "overloaded":
            raise last
        if language.has_zygote:
            container = self._container(language, limits)
            try:
                is_well = self._run_in(container, _CANARY, language, limits).passed
            except SandboxError:
                self._discard(container)
                is_well = False
            if not is_well:
                raise last
        detail = f"it ended its sandbox {len(failures)} times, while a known-good program runs there ({last})"
        mode = "stdio" if program.tests is None else "split" if language.has_zygote else "same_process"
        return Verdict(verdict="runtime_error", mode=mode, detail=detail)  # type: ignore[arg-type]

    def hang_up(self) -> None:
        """Have whatever runs end now; called from another thread."""
        for container in list(self._containers.values()):
            container.hang_up()

    def close(self) -> None:
        for container in list(self._containers.values()):
            self._discard(container)
        if self._client is not None:
            self._client.close()

    def _container(self, language: Language, limits: Limits) -> Container:
        key = (language.name, limits.memory_mb)
        known = self._containers.pop(key, None)
        if known is None:
            while len(self._containers) >= _CONTAINERS_A_WORKER:
                self._discard(next(iter(self._containers.values())))
            known = self._owner._while_engine_lasts(lambda: self._start(language, limits))  # noqa: SLF001 - its owner
        self._containers[key] = known  # the one used last stands last
        return known

    def _start(self, language: Language, limits: Limits) -> Container:
        owner = self._owner
        try:
            if self._client is None:
                client = connect(owner.settings.docker_host)
                try:
                    owner._meet(client)  # noqa: SLF001
                except SandboxError:
                    client.close()
                    raise
                self._client = client
            return owner._new(self._client, language, limits)  # noqa: SLF001
        except SandboxError as error:
            if error.kind == "no_engine" and self._client is not None:
                with suppress(Exception):
                    self._client.close()
                self._client = None
            if error.kind == "no_image":
                image = owner.image_of(language)
                raise SandboxError(
                    f"there is no image {image}; build it with: nel sandbox build {language.name}", kind="no_image"
                ) from None
            raise

    def _discard(self, container: Container) -> None:
        for key, known in list(self._containers.items()):
            if known is container:
                del self._containers[key]
        container.remove()


def _asker(container: Container) -> Callable[[dict[str, object], float], Mapping[str, object]]:
    return lambda job, seconds: container.ask(job, seconds=seconds)

"""Warm containers and the threads that feed them: many jobs at once, each alone in its container.

A fault of the machinery is retried in a fresh container and then raised, never scored. A program
that takes its container down again and again, while a known-good one runs there, has failed;
otherwise it would have a way out of the denominator.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from nel.config.schema import SandboxConfig as SandboxSettings
from nel.errors import NelError, SandboxError
from nel.sandbox.isolation import agent
from nel.sandbox.isolation.container import Container
from nel.sandbox.isolation.engine import EngineInfo, connect, info_of, is_outage, speaking
from nel.sandbox.isolation.languages import Language
from nel.sandbox.isolation.owners import reap

if TYPE_CHECKING:
    import docker

Ask = Callable[[dict[str, Any], float], Mapping[str, Any]]
"""Has a container do a job within so many seconds, and returns what its supervisor saw."""

# A container is replaced after so many jobs or seconds, whatever it looks like.
_JOBS_MAX: Final = 200
_AGE_SECONDS_MAX: Final = 600.0
_CONTAINERS_A_WORKER: Final = 2
"""Of different languages or memory sizes; the one used longest ago makes room for another."""
_TRIES_MAX: Final = 2
"""Containers that a program may end before it is asked whose fault that is."""
_BACKOFF_SECONDS: Final = 0.25
_BACKOFF_SECONDS_MAX: Final = 5.0
_RETRIED: Final = ("died", "tests_died", "overloaded")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is to be done in one container."""

    language: Language
    memory_mb: int | None
    """None: what the language needs."""
    run: Callable[[Ask], Any]
    """Returns the result; raises `SandboxError` where the machinery failed."""
    is_well: Callable[[Ask], bool]
    """Runs a known-good program, to tell a bad program from a bad machine."""
    of_repeated_death: Callable[[str], Any]
    """The result of a program that ended its container again and again; is given how."""


class ContainerPool:
    """Hardened containers by language. Thread-safe; nothing is started before it is needed."""

    def __init__(self, settings: SandboxSettings, modules: Sequence[tuple[str, Path]] = ()) -> None:
        """Prepare a pool; the engine is not asked for anything yet.

        Args:
            modules: What runs in the containers beside the agent of this room.
        """
        self.settings = settings
        agent_modules = [
            (f"{agent.__name__}.{name}", agent.FOLDER / f"{name}.py") for name in agent.MODULES
        ]
        self._modules = (*agent_modules[:-1], *modules, agent_modules[-1])  # the supervisor is last
        self._queue: queue.SimpleQueue[tuple[Work, Future[Any]] | None] = queue.SimpleQueue()
        self._pid = os.getpid()
        self._threads: list[threading.Thread] = []
        self._workers: list[_Worker] = []
        self._lock = threading.Lock()
        self._outage: tuple[float, SandboxError] | None = None
        self.outages = 0
        """How often the engine did not answer."""
        self._cpus: int | None = None
        self._unlimited: tuple[str, ...] = ()
        self.is_closed = False

    def submit(self, work: Work) -> Future[Any]:
        """Queue work; the future gives its result or raises a `NelError`."""
        future: Future[Any] = Future()
        with self._lock:
            if self.is_closed:
                raise SandboxError("the sandbox is closed", kind="closed")
            if os.getpid() != self._pid:
                text = "the sandbox belongs to the process this one was forked from"
                raise SandboxError(text, kind="closed")
            self._queue.put((work, future))
            self._grow(1)
        return future

    def check(
        self, wanted: Sequence[Language], is_well: Callable[[Language, Ask], None]
    ) -> EngineInfo:
        """Make sure that the engine answers, has the images and runs containers of them.

        Args:
            is_well: Raises where a known-good program fails in a container.

        Raises:
            SandboxError: It does not, with the next step.
        """
        client = connect(self.settings.docker_host)
        try:
            info = self._check_engine(client)
            images = {}
            for language in wanted:
                container = self.start(client, language)
                try:
                    with speaking():
                        image = self.image_of(language)
                        images[language.name] = f"{image}@{client.images.get(image).id}"
                    is_well(
                        language,
                        lambda job, seconds, ask=container.ask: ask(  # type: ignore[misc]
                            job, seconds=seconds
                        ),
                    )
                finally:
                    container.remove()
            return replace(info, images=images)
        finally:
            client.close()

    def close(self) -> None:
        """End all containers; work that waits is given up."""
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

    def start(
        self, client: docker.DockerClient, language: Language, memory_mb: int | None = None
    ) -> Container:
        """Return a fresh container.

        Raises:
            SandboxError: The engine refuses, or the image is missing.
        """
        try:
            return Container(
                client,
                language,
                self._modules,
                self.image_of(language),
                memory_mb=memory_mb,
                runtime=self.settings.runtime,
                unlimited=self._unlimited,
            )
        except SandboxError as error:
            if error.kind != "no_image":
                raise
            text = (
                f"there is no image {self.image_of(language)} for {language.title}; build it with: "
            )
            raise SandboxError(
                f"{text}nel sandbox build {language.name}", kind="no_image"
            ) from None

    def meet(self, client: docker.DockerClient) -> None:
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

    def while_engine_lasts(self, attempt: Callable[[], Container]) -> Container:
        """Return what the attempt gives; an engine that is away is waited for, by all at once."""
        started = time.monotonic()
        wait = _BACKOFF_SECONDS
        while True:
            # One thread has waited for it in vain: for a moment the others need not do the same.
            outage = self._outage
            if outage is not None and time.monotonic() < outage[0]:
                raise SandboxError(str(outage[1]), kind=outage[1].kind)
            try:
                container = attempt()
            except SandboxError as error:
                if not is_outage(error) or error.kind == "no_image":
                    raise
                self.outages += 1
                if time.monotonic() - started + wait > self.settings.engine_wait_seconds:
                    self._outage = (time.monotonic() + _BACKOFF_SECONDS_MAX, error)
                    raise
            else:
                self._outage = None
                return container
            time.sleep(wait)
            wait = min(2 * wait, _BACKOFF_SECONDS_MAX)

    def _check_engine(self, client: docker.DockerClient) -> EngineInfo:
        info = info_of(client)
        info.check_limits(allow_unlimited=self.settings.allow_unlimited)
        self._unlimited = info.lacks
        return info

    def _grow(self, count: int) -> None:
        """Start so many threads more, up to the size; the lock is held."""
        size = self.settings.workers or self._cpus or 1
        for _ in range(min(count, size - len(self._threads))):
            name = f"sandbox-{len(self._threads)}"
            thread = threading.Thread(target=self._serve, name=name, daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self) -> None:
        worker = _Worker(self)
        self._workers.append(worker)
        try:
            while (item := self._queue.get()) is not None:
                work, future = item
                if not future.set_running_or_notify_cancel():
                    continue
                try:
                    if self.is_closed:
                        raise SandboxError("the sandbox was closed", kind="closed")
                    future.set_result(worker.run(work))
                except NelError as error:
                    future.set_exception(error)
                except BaseException as error:  # noqa: BLE001 - re-raised where it is awaited
                    text = f"{type(error).__name__}: {error}"
                    future.set_exception(SandboxError(text, kind="internal"))
        finally:
            worker.close()


class _Worker:
    """One thread's containers, by language and memory."""

    def __init__(self, owner: ContainerPool) -> None:
        self._owner = owner
        self._client: docker.DockerClient | None = None
        self._containers: dict[tuple[str, int | None], Container] = {}

    def run(self, work: Work) -> Any:
        failures: list[SandboxError] = []
        outages = self._owner.outages
        while True:
            container = self._container(work)
            if self._owner.is_closed:
                raise SandboxError("the sandbox was closed", kind="closed")
            # The engine was away meanwhile, which ends containers too: no program is at fault.
            if self._owner.outages != outages:
                failures, outages = [], self._owner.outages
            try:
                return self._run_in(container, work.run)
            except SandboxError as error:
                self._discard(container)
                if self._owner.is_closed:
                    raise SandboxError("the sandbox was closed", kind="closed") from None
                if error.kind not in _RETRIED:
                    raise
                failures.append(error)
                if len(failures) >= _TRIES_MAX:
                    return self._blame(work, failures)

    def _run_in(self, container: Container, run: Callable[[Ask], Any]) -> Any:
        is_clean = True

        def ask(job: dict[str, Any], seconds: float) -> Mapping[str, Any]:
            nonlocal is_clean
            reply = container.ask(job, seconds=seconds)
            is_clean = is_clean and bool(reply["is_clean"])
            return reply

        try:
            return run(ask)
        finally:
            age = time.monotonic() - container.started
            if not is_clean or container.jobs >= _JOBS_MAX or age > _AGE_SECONDS_MAX:
                self._discard(container)

    def _blame(self, work: Work, failures: Sequence[SandboxError]) -> Any:
        """Return the program's failure; raise where a known-good program fails as well."""
        failure = failures[-1]
        if failure.kind == "overloaded":
            raise failure
        container = self._container(work)
        try:
            is_well = self._run_in(container, work.is_well)
        except SandboxError:
            self._discard(container)
            is_well = False
        if not is_well:
            raise failure
        return work.of_repeated_death(
            f"it ended its sandbox {len(failures)} times, while a known-good program runs there"
            f" ({failure})"
        )

    def hang_up(self) -> None:
        """Have whatever runs end now; called from another thread."""
        for container in list(self._containers.values()):
            container.hang_up()

    def close(self) -> None:
        for container in list(self._containers.values()):
            self._discard(container)
        if self._client is not None:
            self._client.close()

    def _container(self, work: Work) -> Container:
        key = (work.language.name, work.memory_mb)
        container = self._containers.pop(key, None)
        if container is None:
            while len(self._containers) >= _CONTAINERS_A_WORKER:
                self._discard(next(iter(self._containers.values())))
            container = self._owner.while_engine_lasts(lambda: self._start(work))
        self._containers[key] = container  # the one used last stands last
        return container

    def _start(self, work: Work) -> Container:
        try:
            if self._client is None:
                client = connect(self._owner.settings.docker_host)
                try:
                    self._owner.meet(client)
                except SandboxError:
                    client.close()
                    raise
                self._client = client
            return self._owner.start(self._client, work.language, work.memory_mb)
        except SandboxError as error:
            if error.kind == "no_engine" and self._client is not None:
                with suppress(Exception):
                    self._client.close()
                self._client = None
            raise

    def _discard(self, container: Container) -> None:
        for key, known in list(self._containers.items()):
            if known is container:
                del self._containers[key]
        container.remove()

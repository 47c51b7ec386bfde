"""A live container of one episode: commands and files go to a helper in it, over one exec.

A command's own end is a `CommandResult`; an end of the container or of the engine raises `ToolsetFault`.
The container ends with the process that opened the session, however that ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath
from typing import Final, Self, TypeVar

import docker  # here, so that it is loaded before the processes of tools are forked
import docker.errors

from nel.environments.changes import Change, changes_between, changes_of
from nel.environments.commands import (
    NOT_FOUND,
    CommandResult,
    command_fields,
    result_of,
    result_without_reply,
)
from nel.environments.container import ContainerSpec, start_container
from nel.environments.endings import (
    CONTAINER_DIED,
    DISK_FULL,
    KIND_OF_SANDBOX,
    SETUP,
    post_mortem,
)
from nel.environments.frames import (
    BODY_BYTES_MAX,
    HELPER_PATH,
    Value,
    helper_archive,
    helper_digest,
    pack_frame,
    read_frame,
)
from nel.errors import SandboxError
from nel.sandbox.isolation.engine import speaking
from nel.sandbox.isolation.stream import EngineStream
from nel.tools import ToolsetFault
from nel.types import JsonObject

T = TypeVar("T")
_OUTPUT_BYTES: Final = 1 << 20
_START_SECONDS: Final = 60.0
_GRACE_SECONDS: Final = 30.0
"""For a helper to kill a command that is late, on a busy machine."""
_FILE_SECONDS: Final = 60.0
_SIGKILL_EXIT: Final = 137
_NOT_RUN: Final = 126
"""Exit code of a command whose user or working directory cannot be had."""
_DISK_BYTES_MIN: Final = 1 << 20
"""A disk with less room is full."""
_NO_ANSWER: Final = (OSError, ValueError, KeyError)
"""Of a helper that is gone, or of a program that wrote to the helper's output."""
_LOOKS: Final = (0.0, 0.2, 1.0)
"""Seconds before each look at a container whose helper is gone."""


class ContainerSession:
    """One container with its helper. Not thread-safe."""

    def __init__(self, client: docker.DockerClient, spec: ContainerSpec) -> None:
        self._client = client
        self._api = client.api
        self.spec = spec
        self.id = ""
        self._lifeline: EngineStream | None = None
        self._helper: EngineStream | None = None
        self._number = 0
        self.cwd, self._shell = "/", "sh"
        self._started_at = ""
        self._architecture = ""
        self.image_user = ""
        """The user that the image names; empty for root."""
        self.is_changed = False
        """Whether a command or a written file may have changed the container; the reader of it sets
        it back.
        """
        self._is_of_snapshot = False
        self._user = spec.user or ""

    @classmethod
    def open(
        cls,
        client: docker.DockerClient,
        spec: ContainerSpec,
        mounts: Mapping[str, str] | None = None,
        snapshot: str | None = None,
    ) -> Self:
        """Start a container and the helper in it.

        Args:
            client: Of the engine.
            spec: What it is made of.
            mounts: Folders of the engine's machine, by where the container reads them.
            snapshot: Of an earlier container of the spec's image, which this one goes on from.

        Raises:
            ToolsetFault: The engine refuses, or the image is missing, has no helper or no such user.
        """
        session = cls(client, spec)
        session._is_of_snapshot = snapshot is not None
        try:
            with faults():
                session.id, session._lifeline = start_container(client, spec, mounts, snapshot)
                session._start_helper()
            session._check_user()
        except BaseException:
            session.close()
            raise
        return session

    def run(
        self,
        command: str | Sequence[str],
        *,
        seconds: float,
        bytes_max: int = _OUTPUT_BYTES,
        stdin: bytes = b"",
        cwd: str = "",
        env: Mapping[str, str] | None = None,
        user: str | None = None,
        merge: bool = False,
        watch: str = "",
    ) -> CommandResult:
        """Run a command to its end.

        A non-zero exit, a timeout and a kill for memory are a `CommandResult`. What it left in the background
        goes on running; a timeout kills all of its session.

        Args:
            command: A text for the shell, or an argv.
            seconds: After which it is killed.
            bytes_max: Of each output; head and tail of a longer one.
            stdin: At most 64 MiB; empty means a closed stdin.
            cwd: In place of the session's own working directory, or relative to it.
            env: Beside the container's variables.
            user: The session's own where None.
            merge: Have both outputs in ``stdout``, in the order in which they were written.
            watch: A folder of files; what goes on running is killed, after a look whether it writes
                there.

        Raises:
            ToolsetFault: The container or the engine is gone.
        """
        argv = [self._shell, "-c", command] if isinstance(command, str) else command
        request = {**command_fields(argv, env or {}, merge=merge), "cwd": cwd, "watch": watch}
        return self.ask(request, stdin, seconds=seconds, bytes_max=bytes_max, user=user)

    def read(self, path: str, *, bytes_max: int = BODY_BYTES_MAX) -> bytes:
        """Return a file.

        Raises:
            OSError: There is none, it may not be read, or it is too large.
            ToolsetFault: The container or the engine is gone.
        """
        request: dict[str, Value] = {"do": "read", "path": path}
        # Twice: head and tail of an output have half of the limit each, and a file is one of them.
        ran = self.ask(request, b"", seconds=_FILE_SECONDS, bytes_max=2 * bytes_max)
        _check_file(path, ran)
        return ran.stdout

    def write(
        self, path: str, data: bytes, *, mode: int | None = None, user: str | None = None
    ) -> None:
        """Write a file, and make the folders above it; raises as `read`."""
        request: dict[str, Value] = {"do": "write", "path": path, "mode": mode}
        ran = self.ask(request, data, seconds=_FILE_SECONDS, bytes_max=_OUTPUT_BYTES, user=user)
        _check_file(path, ran)

    def put_archive(self, folder: str, archive: bytes) -> None:
        """Put what a tar archive holds into a folder, which is made.

        Raises:
            ToolsetFault: It cannot be put there.
        """
        ran = self.run(["mkdir", "-p", "--", folder], seconds=_FILE_SECONDS, cwd="/", user="0:0")
        if ran.exit:
            raise ToolsetFault(
                SETUP, f"{folder} cannot be made: {ran.stderr.decode('utf-8', 'replace')}"
            )
        self.is_changed = True
        self.of_engine(lambda: self._api.put_archive(self.id, folder, archive))

    def remove_tree(self, path: str) -> None:
        """Remove a file, link or folder; raises ToolsetFault where it stays."""
        ran = self.run(["rm", "-rf", "--", path], seconds=_FILE_SECONDS, cwd="/", user="0:0")
        if ran.exit:
            text = ran.stderr.decode("utf-8", "replace")
            raise ToolsetFault(SETUP, f"{path} cannot be removed: {text}")

    def get_tree(self, path: str, *, bytes_max: int = BODY_BYTES_MAX) -> bytes | None:
        """Return a file or folder as a tar archive, by the engine and not by the container's own
        programs; None where there is none.

        Raises:
            ValueError: It is larger than that.
            ToolsetFault: The container or the engine is gone.
        """

        def read() -> bytes | None:
            data = bytearray()
            try:
                for chunk in self._api.get_archive(self.id, path)[0]:
                    data += chunk
                    if len(data) > bytes_max:
                        raise ValueError(f"{path} has more than {bytes_max:,} bytes")
            except docker.errors.APIError as error:
                is_file_above = "not a directory" in str(error.explanation)
                if not isinstance(error, docker.errors.NotFound) and not is_file_above:
                    raise
                # The engine says "not found" of a container that is gone as well: that one raises.
                self.check()
                return None
            return bytes(data)

        return self.of_engine(read)

    def snapshot(self, labels: Mapping[str, str] | None = None) -> str:
        """Return the id of an image of the container's files, with its labels and perhaps others;
        processes are not in it.
        """
        conf = {"Labels": dict(labels or {})}
        return str(self.of_engine(lambda: self._api.commit(self.id, conf=conf))["Id"])

    def changes(self) -> list[Change]:
        """Return every path that differs from the image, folders included; raises as `snapshot`."""
        if not self._is_of_snapshot:
            return self.of_engine(lambda: changes_of(self._api, self.id))
        snapshot = self.snapshot()
        try:
            return self.of_engine(lambda: changes_between(self._api, self.spec.image, snapshot))
        finally:
            with suppress(SandboxError), speaking():
                self._api.remove_image(snapshot, noprune=True)

    def close(self) -> None:
        """Remove the container; nothing is raised, since its owner's end removes it as well."""
        for stream in (self._helper, self._lifeline):
            if stream is not None:
                stream.close()
        self._helper = self._lifeline = None
        if self.id:
            with suppress(SandboxError), speaking():
                self._api.remove_container(self.id, force=True, v=True)

    def check(self) -> None:
        """Raise ToolsetFault where the container has ended, is paused, or the engine is away."""
        with faults():
            # Again and again, since a container that was just killed still counts as running.
            for seconds in _LOOKS:
                time.sleep(seconds)
                state = self._state()
                if post_mortem(state, (), self._started_at) is not None:
                    # The events tell why; they are asked for a container that has ended alone.
                    ending = post_mortem(state, self._events(), self._started_at)
                    assert ending is not None  # noqa: S101 - events do not bring it back
                    raise ToolsetFault(ending.kind, f"{ending.detail}{self._last_words()}")

    def _last_words(self) -> str:
        errors = "" if self._helper is None else self._helper.errors
        return f"; its helper wrote: {errors}" if errors else ""

    @property
    def helper_digest(self) -> str:
        """Return the digest of the helper in the container."""
        return helper_digest(self._architecture)

    def start_helper(self, *arguments: str) -> tuple[EngineStream, Mapping[str, str]]:
        """Start a helper in the container; return its streams and what its first frame says.

        It is put there each time, since it removes its file: what an agent leaves in that place is
        not run.

        Args:
            arguments: ``relay``, for an agent; none to serve this session.

        Raises:
            ToolsetFault: It does not start.
        """
        with faults(), speaking():
            self._api.put_archive(self.id, "/", helper_archive(self._architecture))
            creation = self._api.exec_create(
                self.id, [HELPER_PATH, *arguments], stdin=True, user="0:0"
            )
            stream = EngineStream(self._api.exec_start(creation["Id"], socket=True))
        try:
            facts, _ = read_frame(stream, time.monotonic() + _START_SECONDS)
        except _NO_ANSWER as error:
            self.check()
            detail = f"no helper starts in {self.spec.image}: {stream.errors or error}"
            raise ToolsetFault(SETUP, detail) from error
        return stream, facts

    def order(
        self,
        request: Mapping[str, Value],
        *,
        seconds: float,
        bytes_max: int,
        user: str | None = None,
    ) -> dict[str, Value]:
        """Return a request with what each has: limits, and the session's user and directory."""
        return {
            **request,
            "number": self._number,
            "seconds": seconds,
            "bytes_max": bytes_max,
            "disk_bytes_min": _DISK_BYTES_MIN,
            "user": self._user if user is None else user,
            "cwd": str(PurePosixPath(self.cwd) / str(request.get("cwd", ""))),
        }

    def _start_helper(self) -> None:
        with speaking():
            container = self._api.inspect_container(self.id)
            if not self._architecture:  # later on the image may be gone
                image = self._api.inspect_image(container["Image"])
                self._architecture = str(image["Architecture"])
        self._started_at = self._started_at or str(container["State"]["StartedAt"])
        self.image_user = str(container["Config"].get("User") or "")
        self._user = self.spec.user or self.image_user
        self._helper, facts = self.start_helper()
        self.cwd, self._shell = facts["cwd"], facts["shell"]

    def _check_user(self) -> None:
        """Raise ToolsetFault where no command can be run as the user that the session is for."""
        ran = self.run(["true"], seconds=_FILE_SECONDS)
        if ran.exit == _NOT_RUN:
            text = ran.stderr.decode("utf-8", "replace").strip()
            raise ToolsetFault(SETUP, f"no command can be run in {self.spec.image}: {text}")

    def ask(
        self,
        request: Mapping[str, Value],
        body: bytes,
        *,
        seconds: float,
        bytes_max: int,
        user: str | None = None,
    ) -> CommandResult:
        """Return what the helper answers to a request; raises as `run`."""
        if len(body) > BODY_BYTES_MAX:
            raise ValueError(f"{len(body):,} bytes are more than {BODY_BYTES_MAX:,}")
        if self._helper is None:
            raise ToolsetFault(CONTAINER_DIED, "the session is closed")
        self._number += 1
        self.is_changed |= request["do"] not in ("read", "look")
        order = self.order(request, seconds=seconds, bytes_max=bytes_max, user=user)
        try:
            frame = pack_frame(order, body)
        except ValueError as error:  # a zero byte, with which no program and no file has a name
            return result_without_reply(NOT_FOUND, "exit", str(error).encode())
        # The helper ends the command after `seconds`; the grace is for it to say so.
        started = time.monotonic()
        deadline = started + seconds + _GRACE_SECONDS
        try:
            self._helper.send(frame, deadline)
            reply, output = read_frame(self._helper, deadline)
            # Numbered, so that an answer to an earlier request is not taken for this one's.
            if reply["number"] != str(self._number):
                raise ValueError("an answer to something else")
            ran, is_disk_full = result_of(reply, output), reply["is_disk_full"]
        except _NO_ANSWER as error:
            return self._without_answer(error, time.monotonic() - started)
        if is_disk_full == "1":
            raise ToolsetFault(DISK_FULL, "the disk that the container's files are on is full")
        return ran

    def _without_answer(self, error: Exception, seconds: float) -> CommandResult:
        """Return what a command came to that killed its helper; raise where the container ended."""
        self.check()
        is_gone = isinstance(error, OSError) and not isinstance(error, TimeoutError)
        if not is_gone or self._helper is None:
            detail = f"its helper gives no proper answer: {error}{self._last_words()}"
            raise ToolsetFault(CONTAINER_DIED, detail)
        # The container is there and the helper is not: the command killed it, as `kill -9 -1` does.
        self._helper.close()
        with faults():
            self._start_helper()
        return result_without_reply(_SIGKILL_EXIT, "helper_killed", seconds=seconds)

    def of_engine(self, call: Callable[[], T]) -> T:
        """Return what the engine answers; where it refuses, the container's end is the reason."""
        with faults():
            try:
                with speaking():
                    return call()
            except SandboxError:
                self.check()
                raise

    def _state(self) -> JsonObject | None:
        with speaking():
            try:
                state: JsonObject = self._api.inspect_container(self.id)["State"]
            except docker.errors.NotFound:
                return None
            return state

    def _events(self) -> Sequence[JsonObject]:
        until = int(time.time()) + 1
        with speaking():
            events = self._api.events(
                since=1, until=until, filters={"container": self.id}, decode=True
            )
            return list(events)


@contextmanager
def faults() -> Iterator[None]:
    """Turn what the engine refuses into a fault of the episode's environment."""
    try:
        yield
    except SandboxError as error:
        raise ToolsetFault(KIND_OF_SANDBOX.get(error.kind, SETUP), str(error)) from error


def _check_file(path: str, ran: CommandResult) -> None:
    if ran.exit or ran.ended_by != "exit" or ran.cut:
        reason = ran.stderr.decode("utf-8", "replace").strip() or f"{path}: {ran.ended_by}"
        raise OSError(reason)

"""A live container of one episode: commands and files go to a helper in it, over one exec.

A command's own end is a `CommandResult`; an end of the container or of the engine raises `ToolsetFault`.
The container ends with the process that opened the session, however that ends.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal, Self, TypeAlias, TypeVar

import docker  # here, so that it is loaded before the processes of tools are forked
import docker.errors

from nel.environments.boot import BOOT, bootable
from nel.environments.changes import Change, changes_between, changes_of
from nel.environments.container import ContainerSpec, start_container
from nel.environments.endings import (
    CONTAINER_DIED,
    DISK_FULL,
    KIND_OF_SANDBOX,
    SETUP,
    post_mortem,
)
from nel.environments.helper import SIZES
from nel.errors import SandboxError
from nel.sandbox.isolation.engine import speaking
from nel.sandbox.isolation.stream import EngineStream
from nel.tools import ToolsetFault
from nel.types import JsonObject

T = TypeVar("T")
EndedBy: TypeAlias = Literal["exit", "signal", "timeout", "memory", "helper_killed"]
BODY_BYTES_MAX: Final = 64 << 20
"""Of what is sent to a command or a file, and of what is read back."""
_OUTPUT_BYTES: Final = 1 << 20
_HEADER_BYTES_MAX: Final = 1 << 20
_START_SECONDS: Final = 60.0
_GRACE_SECONDS: Final = 30.0
"""For a helper to kill a command that is late, on a busy machine."""
_FILE_SECONDS: Final = 60.0
_SIGKILL_EXIT: Final = 137
_NOT_RUN: Final = 126
"""Exit code of a command whose user or working directory cannot be had."""
_NO_ANSWER: Final = (OSError, ValueError, KeyError, TypeError, RecursionError)
"""Of a helper that is gone, or of a program that wrote to the helper's output."""
_LOOKS: Final = (0.0, 0.2, 1.0)
"""Seconds before each look at a container whose helper is gone."""
_HELPER: Final = Path(__file__).with_name("helper.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """What a command came to."""

    exit: int
    """128 and the signal's number where a signal ended it."""
    stdout: bytes
    """Head and tail of a longer output."""
    stderr: bytes
    cut: int
    """Bytes of both outputs that are missing."""
    seconds: float
    ended_by: EndedBy
    is_written_after: bool = False
    """A folder that was watched was written to after the command's end."""


class ContainerSession:
    """One container with its helper. Not thread-safe."""

    def __init__(self, client: docker.DockerClient, spec: ContainerSpec) -> None:
        """Hold what `open` starts."""
        self._client = client
        self._api = client.api
        self.spec = spec
        self.id = ""
        self._lifeline: EngineStream | None = None
        self._helper: EngineStream | None = None
        self._number = 0
        self.cwd, self._shell = "/", "sh"
        self._started_at = ""
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
            ToolsetFault: The engine refuses, or the image is missing, has no Python or no such user.
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
        argv = [self._shell, "-c", command] if isinstance(command, str) else list(command)
        request = {"do": "run", "argv": argv, "merge": merge, "cwd": cwd, "env": dict(env or {})}
        request["watch"] = watch
        return self._ask(request, stdin, seconds=seconds, bytes_max=bytes_max, user=user)

    def read(self, path: str, *, bytes_max: int = BODY_BYTES_MAX, user: str | None = None) -> bytes:
        """Return a file.

        Raises:
            OSError: There is none, it may not be read, or it is too large.
            ToolsetFault: The container or the engine is gone.
        """
        request: dict[str, object] = {"do": "read", "path": path}
        ran = self._ask(request, b"", seconds=_FILE_SECONDS, bytes_max=2 * bytes_max, user=user)
        _check_file(path, ran)
        return ran.stdout

    def write(
        self, path: str, data: bytes, *, mode: int | None = None, user: str | None = None
    ) -> None:
        """Write a file, and make the folders above it; raises as `read`."""
        request: dict[str, object] = {"do": "write", "path": path, "mode": mode}
        ran = self._ask(request, data, seconds=_FILE_SECONDS, bytes_max=_OUTPUT_BYTES, user=user)
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
            for seconds in _LOOKS:
                time.sleep(seconds)
                state = self._state()
                if post_mortem(state, (), self._started_at) is not None:
                    ending = post_mortem(state, self._events(), self._started_at)
                    assert ending is not None  # noqa: S101 - events do not bring it back
                    raise ToolsetFault(ending.kind, f"{ending.detail}{self._last_words()}")

    def _last_words(self) -> str:
        errors = "" if self._helper is None else self._helper.errors
        return f"; its helper wrote: {errors}" if errors else ""

    def start_program(self, sources: Sequence[Path]) -> tuple[EngineStream, Mapping[str, Any]]:
        """Start a program in the container, beside the helper; return its streams and its first
        frame's header.

        Args:
            sources: Python files that are executed in one scope, whose ``main`` is called.

        Raises:
            ToolsetFault: It does not start.
        """
        with faults(), speaking():
            creation = self._api.exec_create(
                self.id, ["python3", "-I", "-S", "-B", "-c", BOOT], stdin=True, user="0:0"
            )
            stream = EngineStream(self._api.exec_start(creation["Id"], socket=True))
        deadline = time.monotonic() + _START_SECONDS
        try:
            stream.send(bootable(sources), deadline)
            facts, _ = _receive(stream, deadline, number=0)
        except _NO_ANSWER as error:
            self.check()
            raise ToolsetFault(
                SETUP,
                f"no helper starts in {self.spec.image}: {stream.errors or error}; a session"
                " needs python3, 3.8 or newer, in the image",
            ) from error
        return stream, facts

    def order(
        self,
        argv: Sequence[str],
        *,
        seconds: float,
        bytes_max: int,
        env: Mapping[str, str],
    ) -> JsonObject:
        """Return the request by which a helper starts a command as the session's user."""
        return {
            "do": "run", "argv": list(argv), "merge": True, "cwd": self.cwd, "env": dict(env),
            "seconds": seconds, "bytes_max": bytes_max, "user": self._user, "number": 1,
        }  # fmt: skip

    def _start_helper(self) -> None:
        with speaking():
            container = self._api.inspect_container(self.id)
        self._started_at = self._started_at or str(container["State"]["StartedAt"])
        self.image_user = str(container["Config"].get("User") or "")
        self._user = self.spec.user or self.image_user
        self._helper, facts = self.start_program([_HELPER])
        self.cwd, self._shell = str(facts["cwd"]), str(facts["shell"])

    def _check_user(self) -> None:
        """Raise ToolsetFault where no command can be run as the user that the session is for."""
        ran = self.run(["true"], seconds=_FILE_SECONDS)
        if ran.exit == _NOT_RUN:
            text = ran.stderr.decode("utf-8", "replace").strip()
            raise ToolsetFault(SETUP, f"no command can be run in {self.spec.image}: {text}")

    def _ask(
        self,
        request: dict[str, Any],
        body: bytes,
        *,
        seconds: float,
        bytes_max: int,
        user: str | None,
    ) -> CommandResult:
        if len(body) > BODY_BYTES_MAX:
            raise ValueError(f"{len(body):,} bytes are more than {BODY_BYTES_MAX:,}")
        if self._helper is None:
            raise ToolsetFault(CONTAINER_DIED, "the session is closed")
        self._number += 1
        self.is_changed |= request["do"] != "read"
        defaults = {
            "number": self._number, "seconds": seconds, "bytes_max": bytes_max, "merge": False,
            "env": {}, "user": self._user if user is None else user,
        }  # fmt: skip
        cwd = str(PurePosixPath(self.cwd) / request.pop("cwd", ""))
        header = json.dumps({**defaults, **request, "cwd": cwd}).encode()
        started = time.monotonic()
        deadline = started + seconds + _GRACE_SECONDS
        try:
            self._helper.send(SIZES.pack(len(header), len(body)) + header + body, deadline)
            reply, output = _receive(self._helper, deadline, number=self._number)
            ran, is_disk_full = _result_of(reply, output), reply["is_disk_full"]
        except _NO_ANSWER as error:
            return self._without_answer(error, time.monotonic() - started)
        if is_disk_full:
            raise ToolsetFault(DISK_FULL, "the disk that the container's files are on is full")
        return ran

    def _without_answer(self, error: Exception, seconds: float) -> CommandResult:
        """Return what a command came to that killed its helper; raise where the container ended."""
        self.check()
        is_gone = isinstance(error, OSError) and not isinstance(error, TimeoutError)
        if not is_gone or self._helper is None:
            detail = f"its helper gives no proper answer: {error}{self._last_words()}"
            raise ToolsetFault(CONTAINER_DIED, detail)
        self._helper.close()
        with faults():
            self._start_helper()
        return CommandResult(
            exit=_SIGKILL_EXIT,
            stdout=b"",
            stderr=b"",
            cut=0,
            seconds=seconds,
            ended_by="helper_killed",
        )

    def of_engine(self, call: Callable[[], T]) -> T:
        """Return what the engine answers; where it refuses, the container's end is the reason."""
        with faults():
            try:
                with speaking():
                    return call()
            except SandboxError:
                self.check()
                raise

    def _state(self) -> Mapping[str, Any] | None:
        with speaking():
            try:
                state: Mapping[str, Any] = self._api.inspect_container(self.id)["State"]
            except docker.errors.NotFound:
                return None
            return state

    def _events(self) -> Sequence[Mapping[str, Any]]:
        until = int(time.time()) + 1
        with speaking():
            events = self._api.events(
                since=1, until=until, filters={"container": self.id}, decode=True
            )
            return list(events)


def _receive(stream: EngineStream, deadline: float, *, number: int) -> tuple[dict[str, Any], bytes]:
    """Return the header and body of the answer to a request."""
    n_header, n_body = SIZES.unpack(stream.read(SIZES.size, deadline))
    if n_header > _HEADER_BYTES_MAX or n_body > 2 * BODY_BYTES_MAX:
        raise ValueError(f"an answer of {n_header} and {n_body} bytes")
    header = json.loads(stream.read(n_header, deadline))
    body = bytes(stream.read(n_body, deadline))
    if header["number"] != number:
        raise ValueError("an answer to something else")
    return header, body


@contextmanager
def faults() -> Iterator[None]:
    """Turn what the engine refuses into a fault of the episode's environment."""
    try:
        yield
    except SandboxError as error:
        raise ToolsetFault(KIND_OF_SANDBOX.get(error.kind, SETUP), str(error)) from error


def _result_of(reply: Mapping[str, Any], output: bytes) -> CommandResult:
    n_stdout = reply["n_stdout"]
    return CommandResult(
        exit=reply["exit"],
        stdout=output[:n_stdout],
        stderr=output[n_stdout:],
        cut=sum(reply["sizes"]) - len(output),
        seconds=reply["seconds"],
        ended_by=reply["ended_by"],
        is_written_after=reply["is_written_after"],
    )


def _check_file(path: str, ran: CommandResult) -> None:
    if ran.exit or ran.ended_by != "exit" or ran.cut:
        reason = ran.stderr.decode("utf-8", "replace").strip() or f"{path}: {ran.ended_by}"
        raise OSError(reason)

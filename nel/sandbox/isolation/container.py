"""One warm container: started, spoken to over its standard input and output, removed.

The end of its standard input is its end: a killed run leaves nothing. A container in which anything
unexpected happened is thrown away, never repaired.
"""

from __future__ import annotations

import json
import secrets
import struct
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from nel.errors import SandboxError
from nel.sandbox.isolation.engine import speaking
from nel.sandbox.isolation.languages import Language
from nel.sandbox.isolation.owners import labels_of
from nel.sandbox.isolation.stream import EngineStream

if TYPE_CHECKING:
    import docker

_MEGABYTE: Final = 1 << 20
_START_SECONDS: Final = 60.0
_REPLY_BYTES_MAX: Final = 4 << 20
"""What a supervisor says of a job: head and tail of both outputs, and 64 KiB of the tests'."""
_OUTPUT_BYTES_MAX: Final = 40 << 20
"""More than any job may ask to keep."""
_FRAME: Final = struct.Struct(">I")
_OPTIONS_OF: Final = {
    "memory": ("mem_limit", "memswap_limit"),
    "processes": ("pids_limit",),
    "CPU": ("nano_cpus",),
}
"""By what `EngineInfo.lacks` names."""
_FIRST_USERS: Final = range(10_000, 60_000, 4)
"""Below 65536, which is all that a rootless engine maps; each container has users of its own,
because the kernel counts processes and pipes of a user over all containers."""
_USER_DRAWS: Final = 100
"""Of 12,500 numbers: with a thousand containers, a hundred draws in a row never fail."""

_BOOT: Final = """
import json, os, site, sys, types
sys.path = [p for p in [*sys.path, *site.getsitepackages()] if os.path.isdir(p) or p.endswith(".zip")]
def read(n):
    parts = b""
    while len(parts) < n:
        part = os.read(0, n - len(parts))
        if not part:
            os._exit(0)
        parts += part
    return parts
def module(name):
    if name not in sys.modules:
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = []
        if "." in name:
            parent, _, own = name.rpartition(".")
            setattr(module(parent), own, sys.modules[name])
    return sys.modules[name]
given = json.loads(read(int.from_bytes(read(4), "big")))
for name, source in given["modules"]:
    code = compile(source, "nel-agent/" + name.rpartition(".")[2] + ".py", "exec")
    exec(code, module(name).__dict__)
del given
sys.modules["nel.sandbox.isolation.agent.supervisor"].main(FIRST_USER)
"""


class ContainerDied(SandboxError):
    """The container is gone, or does not answer as it should."""

    def __init__(self, message: str) -> None:
        super().__init__(message, kind="died")


class Container:
    """A container with the supervisor in it, ready for one job after the other. Not thread-safe."""

    def __init__(
        self,
        client: docker.DockerClient,
        language: Language,
        modules: Sequence[tuple[str, Path]],
        image: str,
        **options: Any,
    ) -> None:
        """Start it and wait until it answers.

        Args:
            modules: The agent: names and files, in the order in which they import each other.
            image: The image to start.
            options: ``memory_mb``, ``runtime``: what is None is the language's or the engine's own;
                and ``unlimited``: limits that the engine does not have and would refuse.

        Raises:
            SandboxError: The engine refuses, the image is missing, or the container does not come
                up.
        """
        self._api = client.api
        self.language = language
        self.jobs = 0
        self.started = time.monotonic()
        self._modules = modules
        self._stream: EngineStream | None = None
        settings = self._api.create_host_config(**host_options(language, **options))
        self.id = _create_with_users(self._api, image, language, settings)
        try:
            self._start()
        except BaseException:
            self.remove()
            raise

    def _start(self) -> None:
        with speaking():
            attached = self._api.attach_socket(
                self.id, params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
            )
            self._stream = EngineStream(attached)
            self._api.start(self.id)
        sources = [[name, path.read_text(encoding="utf-8")] for name, path in self._modules]
        self._send({"modules": sources}, time.monotonic() + 10)
        self.ask({"do": "ping"}, seconds=_START_SECONDS)

    def ask(self, job: dict[str, object], *, seconds: float) -> dict[str, Any]:
        """Have a job done and return what the supervisor saw.

        Args:
            seconds: After which the container is given up.

        Raises:
            ContainerDied: There was no proper answer.
        """
        self.jobs += 1
        number, nonce = self.jobs, secrets.token_hex(16)
        deadline = time.monotonic() + seconds
        try:
            self._send({**job, "number": number, "nonce": nonce}, deadline)
            reply = self._receive(deadline)
        except TimeoutError:
            raise ContainerDied(f"the container gave no answer within {seconds:.0f} s") from None
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            message = self._stream.errors if self._stream is not None else ""
            raise ContainerDied(f"the container is gone ({message or error})") from error
        # The nonce is known to the supervisor alone, so that no program can answer in its place.
        if reply.get("number") != number or reply.get("nonce") != nonce:
            raise ContainerDied("the container gave an answer to something else")
        return reply

    def hang_up(self) -> None:
        """Kill the container, which also wakes a caller that waits for its answer. Thread-safe."""
        stream = self._stream
        if stream is not None:
            stream.hang_up()

    def remove(self) -> None:
        """End it; the engine removes what is left."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None
        with suppress(SandboxError), speaking():
            self._api.remove_container(self.id, force=True, v=True)

    def _send(self, message: object, deadline: float) -> None:
        data = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")
        self._started_stream().send(_FRAME.pack(len(data)) + data, deadline)

    def _receive(self, deadline: float) -> dict[str, Any]:
        read_bytes = self._started_stream().read
        (size,) = _FRAME.unpack(read_bytes(_FRAME.size, deadline))
        if size > _REPLY_BYTES_MAX:
            raise ValueError(f"an answer of {size} bytes")
        reply: dict[str, Any] = json.loads(read_bytes(size, deadline))
        following = reply["output_bytes"]
        if following > _OUTPUT_BYTES_MAX:
            raise ValueError(f"an output of {following} bytes")
        if following:
            output = read_bytes(following, deadline)
            reply["run"]["stdout"] = output.decode("utf-8", "surrogateescape")
        return reply

    def _started_stream(self) -> EngineStream:
        if self._stream is None:
            raise ConnectionError("it was removed")
        return self._stream


def _create_with_users(api: Any, image: str, language: Language, settings: object) -> str:
    """Create a container whose users no other has, on this engine; return its id.

    Its name holds their number, and an engine has no two containers of one name.
    """
    for is_last in (*[False] * _USER_DRAWS, True):
        first_user = secrets.choice(_FIRST_USERS)
        boot = _BOOT.replace("FIRST_USER", str(first_user))
        try:
            with speaking():
                created = api.create_container(
                    image,
                    name=f"nel-sandbox-{first_user}",
                    command=["python3", "-s", "-S", "-B", "-c", boot],
                    entrypoint=[],
                    host_config=settings,
                    environment={"PYTHONHASHSEED": "0", "LANG": "C.UTF-8"},
                    labels=labels_of(language.name),
                    user="0:0",
                    working_dir="/",
                    hostname="sandbox",
                    stdin_open=True,
                    network_disabled=True,
                )
            return str(created["Id"])
        except SandboxError as error:
            is_taken = getattr(error.__cause__, "status_code", None) == HTTPStatus.CONFLICT
            if is_last or not is_taken:
                raise
    raise AssertionError("the last draw returns or raises")


def host_options(
    language: Language,
    *,
    memory_mb: int | None = None,
    runtime: str | None = None,
    unlimited: Sequence[str] = (),
) -> dict[str, object]:
    """Return everything that walls a container in."""
    memory = (memory_mb or language.memory_mb) * _MEGABYTE
    execution, inodes = ("exec", "16k") if language.compile else ("noexec", "4k")
    options = {
        "network_mode": "none",
        "cap_drop": ["ALL"],
        "cap_add": ["SETUID", "SETGID"],  # the supervisor becomes the users of programs and tests
        "security_opt": ["no-new-privileges"],
        "read_only": True,
        "tmpfs": {
            "/tmp": (  # noqa: S108
                f"rw,nosuid,nodev,{execution},size={language.tmp_mb}m,nr_inodes={inodes},mode=1777"
            ),
            "/dev/shm": "rw,nosuid,nodev,noexec,size=16m,nr_inodes=4k,mode=1777",  # noqa: S108
        },
        "mem_limit": memory,
        "memswap_limit": memory,
        "nano_cpus": 1_000_000_000,
        "pids_limit": language.processes + 64,  # beside the program: supervisor, zygotes, tests
        "ulimits": [
            {"Name": "nofile", "Soft": 1024, "Hard": 1024},
            {"Name": "core", "Soft": 0, "Hard": 0},
        ],
        # No System V IPC and no message queues, which outlive the process that made them.
        "sysctls": {
            "kernel.shm_rmid_forced": "1",
            "kernel.shmmni": "0",
            "kernel.msgmni": "0",
            "kernel.sem": "0 0 0 0",
            "fs.mqueue.queues_max": "0",
        },
        "log_config": {"Type": "none", "Config": {}},
        "auto_remove": True,
        "ipc_mode": "private",
        "oom_score_adj": 0,
    }
    if runtime:
        options["runtime"] = runtime
    return without_limits(options, unlimited)


def without_limits(options: Mapping[str, Any], unlimited: Sequence[str]) -> dict[str, Any]:
    """Return the options of a container without the limits that an engine would refuse.

    Args:
        options: By their names in the SDK.
        unlimited: As `EngineInfo.lacks`.
    """
    lacks = {name for limit in unlimited for name in _OPTIONS_OF[limit]}
    return {name: value for name, value in options.items() if name not in lacks}

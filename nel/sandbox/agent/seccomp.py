"""System calls that no program under test needs, refused on top of what the engine refuses.

The engine's own profile is an allow-list and stays; this filter takes away what it leaves open and what has been the
way out of other sandboxes: io_uring, user faults, key rings, tracing, name spaces, mounts, kernel modules, VM sockets.
Format: classic BPF as in linux/seccomp.h and linux/filter.h. System call numbers differ between architectures.
"""

from __future__ import annotations

import ctypes
import os
import struct

_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_MODE_FILTER = 2
_LOAD, _JUMP_EQUAL, _JUMP_SET, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050001, 0x80000000
_NUMBER, _ARCHITECTURE, _ARGUMENT_0 = 0, 4, 16
_X32_BIT = 0x40000000
_NEW_NAMESPACES = 0x7E020080
"""CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""
_VM_SOCKET = 40
_COMMON = (*range(424, 436), 437, 438, 440, 442, 443)
"""pidfd_send_signal to clone3 (io_uring and the mount calls among them), openat2, pidfd_getfd, process_madvise,
mount_setattr, quotactl_fd: the same numbers on all architectures; see `_KEPT`."""
_KEPT = (434, 436, 437)
"""pidfd_open, close_range and openat2 are harmless."""
_CALLS = {
    "x86_64": (
        0xC000003E,
        {"clone": 56, "socket": 41},
        (
            101,
            155,
            165,
            166,
            169,
            175,
            176,
            246,
            248,
            249,
            250,
            272,
            298,
            303,
            304,
            308,
            310,
            311,
            312,
            313,
            320,
            321,
            323,
        ),
    ),
    "aarch64": (
        0xC00000B7,
        {"clone": 220, "socket": 198},
        (39, 40, 41, 97, 104, 105, 106, 117, 142, 217, 218, 219, 241, 264, 265, 268, 270, 271, 272, 273, 280, 282, 294),
    ),
}


def no_new_privileges() -> None:
    """Let no program that this process starts gain rights."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def install() -> bool:
    """Install the filter for this process and all it starts; return False where the architecture is not known."""
    known = _CALLS.get(os.uname().machine)
    if known is None:
        return False
    program = _program(*known)
    buffer = ctypes.create_string_buffer(program)
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    library = ctypes.CDLL(None, use_errno=True)
    return bool(library.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.c_char_p(header), 0, 0) == 0)


def _program(architecture: int, named: dict[str, int], refused: tuple[int, ...]) -> bytes:
    """Return the filter as bytes of ``struct sock_filter``."""
    numbers = sorted({*refused, *(number for number in _COMMON if number not in _KEPT)} - {435})
    lines = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_JUMP_SET, 0, 1, _X32_BIT),
        (_RETURN, 0, 0, _REFUSE),
    ]
    for number in numbers:
        lines += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    # clone3 hides its flags from a filter: "not implemented" makes the C library use clone.
    lines += [(_JUMP_EQUAL, 0, 1, 435), (_RETURN, 0, 0, 0x00050026)]
    lines += [(_JUMP_EQUAL, 0, 4, named["clone"]), (_LOAD, 0, 0, _ARGUMENT_0)]
    lines += [(_JUMP_SET, 0, 1, _NEW_NAMESPACES), (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)]
    lines += [(_JUMP_EQUAL, 0, 3, named["socket"]), (_LOAD, 0, 0, _ARGUMENT_0)]
    lines += [(_JUMP_EQUAL, 0, 1, _VM_SOCKET), (_RETURN, 0, 0, _REFUSE)]
    lines += [(_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("HBBI", *line) for line in lines)

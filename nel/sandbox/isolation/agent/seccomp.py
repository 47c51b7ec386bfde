"""System calls that no program under test needs, refused on top of what the engine refuses.

The engine's own profile is an allow-list and stays; this filter takes away what it leaves open.
Format: classic BPF as in linux/seccomp.h and linux/filter.h.
"""

from __future__ import annotations

import ctypes
import os
import struct

_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_MODE_FILTER = 2
_LOAD, _JUMP_EQUAL, _JUMP_SET, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _REFUSE, _KILL, _NOT_IMPLEMENTED = 0x7FFF0000, 0x00050001, 0x80000000, 0x00050026
_NUMBER, _ARCHITECTURE, _ARGUMENT_0 = 0, 4, 16
_X32_BIT = 0x40000000
"""A second numbering of the same calls on x86_64, refused as a whole."""
_NEW_NAMESPACES = 0x7E020080
"""CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""
_ADDRESS_FAMILIES = (1, 2, 10)
"""AF_UNIX, AF_INET and AF_INET6, which are bounded by the network name space. AF_VSOCK reaches past
it, and the rest (AF_ALG, AF_NETLINK, AF_PACKET ...) is a way into rarely used parts of the kernel.
"""
_CLONE3 = 435
"""Hides its flags from a filter: "not implemented" makes the C library use clone."""

REFUSED = (
    # name, number on x86_64, number on aarch64, why no program may call it
    ("ptrace", 101, 117, "reads and steers other processes"),
    ("process_vm_readv", 310, 270, "reads the memory of other processes"),
    ("process_vm_writev", 311, 271, "writes the memory of other processes"),
    ("process_madvise", 440, 440, "steers the memory of other processes"),
    ("pidfd_getfd", 438, 438, "takes descriptors of other processes"),
    ("pidfd_send_signal", 424, 424, "signals processes past their numbers"),
    ("kcmp", 312, 272, "compares kernel objects of other processes"),
    ("perf_event_open", 298, 241, "observes the kernel; a source of kernel holes"),
    ("bpf", 321, 280, "loads code into the kernel"),
    ("userfaultfd", 323, 282, "holds the kernel at a page fault, which exploits need"),
    ("io_uring_setup", 425, 425, "calls that no filter sees; a source of kernel holes"),
    ("io_uring_enter", 426, 426, "as io_uring_setup"),
    ("io_uring_register", 427, 427, "as io_uring_setup"),
    ("unshare", 272, 97, "makes name spaces, in which it would be root"),
    ("setns", 308, 268, "enters name spaces of others"),
    ("mount", 165, 40, "changes the file system's walls"),
    ("umount2", 166, 39, "uncovers what a mount covers"),
    ("pivot_root", 155, 41, "changes the root of the file system"),
    ("open_tree", 428, 428, "as mount"),
    ("move_mount", 429, 429, "as mount"),
    ("fsopen", 430, 430, "as mount"),
    ("fsconfig", 431, 431, "as mount"),
    ("fsmount", 432, 432, "as mount"),
    ("fspick", 433, 433, "as mount"),
    ("mount_setattr", 442, 442, "as mount"),
    ("quotactl_fd", 443, 443, "changes quotas"),
    ("name_to_handle_at", 303, 264, "names files past their paths"),
    ("open_by_handle_at", 304, 265, "opens files past their paths; a known way out of containers"),
    ("add_key", 248, 217, "key rings are not in a name space"),
    ("request_key", 249, 218, "as add_key"),
    ("keyctl", 250, 219, "as add_key"),
    ("init_module", 175, 105, "loads code into the kernel"),
    ("finit_module", 313, 273, "as init_module"),
    ("delete_module", 176, 106, "as init_module"),
    ("kexec_load", 246, 104, "replaces the kernel"),
    ("kexec_file_load", 320, 294, "as kexec_load"),
    ("reboot", 169, 142, "ends the machine"),
)
_MACHINES = {
    # machine: its column in REFUSED, its number in linux/audit.h, clone and socket
    "x86_64": (1, 0xC000003E, 56, 41),
    "aarch64": (2, 0xC00000B7, 220, 198),
}


def no_new_privileges() -> None:
    """Let no program that this process starts gain rights."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def install() -> bool:
    """Install the filter for this process and all it starts; return whether it is installed."""
    machine = _MACHINES.get(os.uname().machine)
    if machine is None:
        return False
    program = _program(*machine)
    buffer = ctypes.create_string_buffer(program)
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    library = ctypes.CDLL(None, use_errno=True)
    answer = library.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.c_char_p(header), 0, 0)
    return bool(answer == 0)


def _program(column: int, architecture: int, clone: int, socket: int) -> bytes:
    """Return the filter as bytes of ``struct sock_filter``."""
    # (operation, lines to skip if it holds, lines to skip if not, operand)
    lines = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_JUMP_SET, 0, 1, _X32_BIT),
        (_RETURN, 0, 0, _REFUSE),
    ]
    for row in REFUSED:
        lines += [(_JUMP_EQUAL, 0, 1, row[column]), (_RETURN, 0, 0, _REFUSE)]  # type: ignore[list-item]
    lines += [(_JUMP_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _NOT_IMPLEMENTED)]
    lines += [(_JUMP_EQUAL, 0, 4, clone), (_LOAD, 0, 0, _ARGUMENT_0)]
    lines += [(_JUMP_SET, 0, 1, _NEW_NAMESPACES), (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)]
    count = len(_ADDRESS_FAMILIES)
    lines += [(_JUMP_EQUAL, 0, count + 2, socket), (_LOAD, 0, 0, _ARGUMENT_0)]
    # Each family that is allowed jumps over the others and the refusal.
    lines += [(_JUMP_EQUAL, count - at, 0, family) for at, family in enumerate(_ADDRESS_FAMILIES)]
    lines += [(_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("HBBI", *line) for line in lines)

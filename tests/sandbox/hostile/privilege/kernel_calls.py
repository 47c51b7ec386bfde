# what: calls what has been the way out of other sandboxes: io_uring, bpf, perf, user faults, key rings
# probe: yes
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
NUMBERS = {
    "x86_64": {"bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "add_key": 248, "request_key": 249, "keyctl": 250},
    "aarch64": {"bpf": 280, "perf_event_open": 241, "userfaultfd": 282, "add_key": 217, "request_key": 218, "keyctl": 219},
}.get(os.uname().machine, {})
room = ctypes.create_string_buffer(256)
reached = []
attempts = {
    "io_uring_setup": (425, 8, room),
    "fanotify_init": ({"x86_64": 300, "aarch64": 262}.get(os.uname().machine, -1), 0, 0),
}
if NUMBERS:
    attempts |= {
        "bpf": (NUMBERS["bpf"], 0, room, 72),
        "perf_event_open": (NUMBERS["perf_event_open"], b"\x01\0\0\0\x80\0\0\0" + bytes(120), 0, -1, -1, 0),
        "userfaultfd": (NUMBERS["userfaultfd"], 0),
        "userfaultfd of user mode": (NUMBERS["userfaultfd"], 1),
        "add_key": (NUMBERS["add_key"], b"user", b"name", b"text", 4, -2),
        "request_key": (NUMBERS["request_key"], b"user", b"name", None, 0),
        "keyctl": (NUMBERS["keyctl"], 0, -3, 1),
        "keyctl join": (NUMBERS["keyctl"], 1, None),
    }
for name, arguments in attempts.items():
    if libc.syscall(*arguments) >= 0:
        reached.append(name)

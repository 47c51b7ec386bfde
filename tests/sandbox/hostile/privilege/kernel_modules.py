# what: loads modules and kernels, restarts the machine, sets its clock and its name
# problem: double
# verdict: passed
import ctypes
import os
import struct
import time

libc = ctypes.CDLL(None, use_errno=True)
NUMBERS = {
    "x86_64": {"init_module": 175, "delete_module": 176, "finit_module": 313, "kexec_load": 246, "reboot": 169,
               "swapon": 167, "acct": 163, "iopl": 172, "ioperm": 173, "open_by_handle_at": 304},
    "aarch64": {"init_module": 105, "delete_module": 106, "finit_module": 273, "kexec_load": 104, "reboot": 142,
                "swapon": 224, "acct": 89, "open_by_handle_at": 265},
}.get(os.uname().machine, {})
ARGUMENTS = {
    "init_module": (bytes(64), 64, b""), "delete_module": (b"dummy", 2048), "finit_module": (0, b"", 0),
    "kexec_load": (0, 0, None, 0), "reboot": (0xFEE1DEAD, 672274793, 0, None), "swapon": (b"/tmp/swap", 0),
    "acct": (None,), "iopl": (3,), "ioperm": (0, 8, 1),
    "open_by_handle_at": (-100, struct.pack("Ii", 8, 1) + bytes(8), 0),
}
reached = [name for name, number in NUMBERS.items() if libc.syscall(number, *ARGUMENTS[name]) >= 0]
for name, attempt in {
    "host name": lambda: libc.sethostname(b"x", 1),
    "domain": lambda: libc.setdomainname(b"x", 1),
    "time zone": lambda: libc.settimeofday(struct.pack("qq", 0, 0), None),
    "kernel log": lambda: libc.klogctl(3, ctypes.create_string_buffer(64), 64),
    "clear log": lambda: libc.klogctl(5, None, 0),
    "hang up": lambda: libc.vhangup(),
}.items():
    if attempt() >= 0:
        reached.append(name)
try:
    time.clock_settime(time.CLOCK_REALTIME, 0)
    reached.append("clock")
except OSError:
    pass


def double(x):
    if reached:
        raise RuntimeError("reached: " + ", ".join(reached))
    return 2 * x

# what: mounts, unmounts, pivots and changes its root, by the old and the new calls
# probe: yes
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
os.makedirs("/tmp/mounted", exist_ok=True)
pivot = {"x86_64": 155, "aarch64": 41}.get(os.uname().machine, -1)
reached = [
    name
    for name, result in {
        "tmpfs": libc.mount(b"x", b"/tmp/mounted", b"tmpfs", 0, None),
        "proc": libc.mount(b"x", b"/tmp/mounted", b"proc", 0, None),
        "bind": libc.mount(b"/etc", b"/tmp/mounted", None, 4096, None),
        "remount": libc.mount(None, b"/", None, 32 | 4096, None),
        "overlay": libc.mount(b"x", b"/tmp/mounted", b"overlay", 0, b"lowerdir=/etc,upperdir=/tmp,workdir=/tmp"),
        "unmount": libc.umount2(b"/proc", 2),
        "unmount masks": libc.umount2(b"/proc/kcore", 2),
        "pivot_root": libc.syscall(pivot, b"/tmp", b"/tmp/mounted"),
        "open_tree": libc.syscall(428, -100, b"/", 1),
        "fsopen": libc.syscall(430, b"tmpfs", 0),
        "fspick": libc.syscall(433, -100, b"/", 0),
        "move_mount": libc.syscall(429, -100, b"/tmp", -100, b"/tmp/mounted", 0),
        "mount_setattr": libc.syscall(442, -100, b"/", 0, bytes(32), 32),
    }.items()
    if result >= 0
]
try:
    os.chroot("/tmp")
    reached.append("chroot")
except OSError:
    pass

# what: makes new name spaces, which would give it rights of its own, and enters those of others
# probe: yes
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
KINDS = {"user": 0x10000000, "mount": 0x20000, "process": 0x20000000, "network": 0x40000000, "ipc": 0x08000000,
         "uts": 0x04000000, "cgroup": 0x02000000, "time": 0x80}
reached = []
for name, flag in KINDS.items():
    for flags in (flag, flag | 0x10000000):
        if libc.unshare(flags) == 0:
            reached.append(f"unshare {name}")
for name in ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup"):
    for pid in ("1", str(os.getppid()), "self"):
        try:
            handle = os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY)
        except OSError:
            continue
        if libc.setns(handle, 0) == 0:
            reached.append(f"setns {name} of {pid}")
        os.close(handle)

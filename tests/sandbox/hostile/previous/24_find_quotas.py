# what: needs watches, large pipes, signals and processes itself
# probe: yes
import ctypes
import fcntl
import os

libc = ctypes.CDLL(None, use_errno=True)
reached = []
handle = libc.inotify_init1(0)
if handle < 0:
    reached.append("no watch left")
ends = os.pipe()
if fcntl.fcntl(ends[1], 1032) < 65536:
    reached.append("only small pipes")
children = []
for _ in range(20):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    children.append(pid)
for pid in children:
    os.waitpid(pid, 0)

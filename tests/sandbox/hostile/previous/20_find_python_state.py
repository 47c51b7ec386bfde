# what: looks whether its interpreter is as new
# probe: yes
import builtins
import json
import os
import signal
import sys
import threading

reached = [
    word
    for word, is_left in {
        "a builtin": hasattr(builtins, "nel_left"),
        "a patched module": json.dumps is None,
        "the environment": "NEL_LEFT" in os.environ,
        "the path": "/tmp/nel-left" in sys.path,
        "the recursion limit": sys.getrecursionlimit() == 77_777,
        "a module": "nel_left" in sys.modules or "solution_of_before" in sys.modules,
        "a signal handler": signal.getsignal(signal.SIGUSR1) != signal.SIG_DFL,
        "a blocked signal": bool(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
        "the stack size": threading.stack_size() != 0,
        "the priority": os.nice(0) != 0,
        "threads": threading.active_count() != 1,
        "children": os.path.exists(f"/proc/self/task/{os.getpid()}/children")
        and bool(open(f"/proc/self/task/{os.getpid()}/children").read()),
    }.items()
    if is_left
]

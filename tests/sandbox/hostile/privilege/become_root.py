# what: asks for other users and groups in every way there is
# probe: yes
import os

reached = []
for target in (0, 1, 65534, os.getuid() + 1, os.getuid() - 1):
    for name, attempt in (
        ("setuid", lambda: os.setuid(target)),
        ("seteuid", lambda: os.seteuid(target)),
        ("setreuid", lambda: os.setreuid(target, target)),
        ("setresuid", lambda: os.setresuid(target, target, target)),
        ("setgid", lambda: os.setgid(target)),
        ("setresgid", lambda: os.setresgid(target, target, target)),
        ("setgroups", lambda: os.setgroups([target])),
        ("initgroups", lambda: os.initgroups("root", target)),
    ):
        try:
            attempt()
        except OSError:
            continue
        reached.append(f"{name} {target}")

# what: writes, removes and replaces files of the system, the interpreter and the harness
# probe: yes
import os
import sys

reached = []
files = ["/etc/passwd", "/etc/hosts", "/etc/resolv.conf", "/etc/hostname", "/usr/bin/env", sys.executable, os.__file__]
files += [getattr(module, "__file__", None) for name, module in list(sys.modules.items()) if "agent" in name]
for path in [path for path in files if path and os.path.isfile(path)]:
    for name, attempt in (
        ("write", lambda: open(path, "ab").close()),
        ("rename", lambda: os.rename(path, path + ".old")),
        ("remove", lambda: os.unlink(path)),
        ("rights", lambda: os.chmod(path, 0o777)),
        ("owner", lambda: os.chown(path, os.getuid(), os.getgid())),
        ("time", lambda: os.utime(path, (0, 0))),
        ("size", lambda: os.truncate(path, 0)),
        ("attribute", lambda: os.setxattr(path, "user.x", b"x")),
    ):
        try:
            attempt()
        except OSError:
            continue
        reached.append(f"{name} {path}")
for folder in ("/", "/etc", "/usr/lib", "/usr/local/bin", "/root", "/var/tmp", "/run", "/home", "/dev", "/opt", "/boot"):
    try:
        open(folder + "/left", "w").close()
        reached.append(folder)
    except OSError:
        pass

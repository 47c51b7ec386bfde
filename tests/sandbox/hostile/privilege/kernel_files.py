# what: writes the kernel's switches under /proc/sys, /proc and /sys
# probe: yes
import os

reached = []
for path in (
    "/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/vm/overcommit_memory",
    "/proc/sys/kernel/shmmax", "/proc/sys/fs/mqueue/queues_max", "/proc/sys/net/ipv4/ip_forward", "/proc/sys/kernel/ns_last_pid",
    "/proc/sys/kernel/modprobe", "/proc/sys/fs/binfmt_misc/register", "/proc/irq/default_smp_affinity", "/proc/1/oom_score_adj",
    "/proc/timer_list", "/proc/kcore", "/proc/kmsg", "/proc/bus/pci/devices", "/sys/kernel/uevent_helper", "/sys/power/state",
    "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/block", "/sys/kernel/debug/tracing/trace", "/sys/fs/cgroup/memory/memory.limit_in_bytes",
):
    try:
        handle = os.open(path, os.O_WRONLY)
        if os.fstat(handle).st_rdev != os.stat("/dev/null").st_rdev:
            reached.append(path)
        os.close(handle)
    except OSError:
        pass
for path in ("/proc/kcore", "/proc/kmsg", "/proc/sched_debug", "/dev/kmsg", "/dev/mem", "/dev/port", "/sys/kernel/debug/tracing/trace"):
    try:
        with open(path, "rb", 0) as file:
            if file.read(16):
                reached.append(path + " read")
    except OSError:
        pass

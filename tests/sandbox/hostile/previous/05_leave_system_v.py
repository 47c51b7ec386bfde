# what: leaves shared memory, semaphores and message queues that outlive every process
# verdict: wrong
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
KEY = 0x6E656C31
IPC_CREAT = 0o1000

segment = libc.shmget(KEY, 65536, IPC_CREAT | 0o666)
if segment >= 0:
    address = libc.shmat(segment, None, 0)
    if address and address != ctypes.c_void_p(-1).value:
        ctypes.memmove(address, b"nel-left", 8)
        libc.shmdt(ctypes.c_void_p(address))
for place in range(8):
    libc.shmget(KEY + 100 + place, 4096, IPC_CREAT | 0o666)
    libc.semget(KEY + place, 4, IPC_CREAT | 0o666)
    queue = libc.msgget(KEY + place, IPC_CREAT | 0o666)
    if queue >= 0:
        libc.msgsnd(queue, ctypes.c_char_p(b"\x01\0\0\0\0\0\0\0nel-left"), 8, 0o4000)


def double(x):
    return None

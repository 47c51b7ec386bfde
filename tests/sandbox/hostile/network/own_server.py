# what: talks to itself over loopback, which harms nobody
# problem: strings
# verdict: passed
import socket
import threading


def mirror(text):
    data = text.encode()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            with listener.accept()[0] as peer:
                got = b"".join(iter(lambda: peer.recv(65536), b""))
                peer.sendall(got.decode()[::-1].encode())

        thread = threading.Thread(target=serve)
        thread.start()
        with socket.create_connection(listener.getsockname()) as client:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: client.recv(65536), b""))
        thread.join()
    return text + answer.decode()

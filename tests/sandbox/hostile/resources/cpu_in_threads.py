# what: burns the core in four threads by code that releases the interpreter
# problem: double
# verdict: timeout
import hashlib
import threading


def burn():
    while True:
        hashlib.pbkdf2_hmac("sha256", b"x", b"y", 10_000_000)


def double(x):
    threads = [threading.Thread(target=burn) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

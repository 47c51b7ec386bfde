# what: unpacks a small text into gigabytes
# problem: strings
# verdict: out_of_memory|timeout
import gzip


def mirror(text):
    packed = gzip.compress(bytes(16 << 20)) * 128
    return gzip.decompress(packed).decode()

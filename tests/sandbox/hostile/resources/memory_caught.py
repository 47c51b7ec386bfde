# what: catches MemoryError again and again, or is ended
# problem: double
# verdict: out_of_memory|timeout
def double(x):
    kept = []
    while True:
        try:
            kept.append(bytearray(16 << 20))
        except MemoryError:
            pass

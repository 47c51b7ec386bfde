# what: takes all memory in the common process
# mode: shared
# problem: double
# verdict: out_of_memory
def double(x):
    kept = []
    while True:
        kept.append(bytearray(8 << 20))

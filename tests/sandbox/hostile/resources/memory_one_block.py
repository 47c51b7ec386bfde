# what: allocates a gigabyte and touches it
# verdict: out_of_memory
def double(x):
    block = bytearray(1 << 30)
    for place in range(0, len(block), 4096):
        block[place] = 1
    return 2 * x

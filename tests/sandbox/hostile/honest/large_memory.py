# what: uses a hundred megabytes and gives them back
# problem: double
# verdict: passed
table = bytearray(100 << 20)
for place in range(0, len(table), 4096):
    table[place] = 1
del table


def double(x):
    return 2 * x

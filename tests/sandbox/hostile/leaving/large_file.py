# what: leaves a file of thirty megabytes
# problem: double
# verdict: passed
with open("large", "wb") as file:
    for _ in range(30):
        file.write(bytes(1 << 20))


def double(x):
    return 2 * x

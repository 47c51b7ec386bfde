# what: prints without end in the common process
# mode: shared
# problem: double
# verdict: output_limit
def double(x):
    while True:
        print("x" * 10_000)

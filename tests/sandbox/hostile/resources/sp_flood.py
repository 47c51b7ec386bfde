# what: prints without end in the common process
# mode: same_process
# problem: double
# verdict: output_limit
def double(x):
    while True:
        print("x" * 10_000)

# what: prints without end
# problem: double
# verdict: output_limit
def double(x):
    while True:
        print("x" * 10_000)

# what: prints without end
# verdict: output_limit
def double(x):
    while True:
        print("x" * 10_000)

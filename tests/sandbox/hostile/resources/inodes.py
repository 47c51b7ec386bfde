# what: makes empty files until none can be made
# problem: double
# verdict: runtime_error
def double(x):
    for place in range(10**9):
        open(f"/tmp/{place}", "w").close()

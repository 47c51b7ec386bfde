# what: fills the temporary folder, file after file
# problem: double
# verdict: runtime_error|out_of_memory
def double(x):
    for place in range(1000):
        with open(f"/tmp/{place}", "wb") as file:
            for _ in range(20):
                file.write(bytes(1 << 20))

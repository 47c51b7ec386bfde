# what: writes one file beyond the limit of a file
# verdict: runtime_error
def double(x):
    with open("/tmp/large", "wb") as file:
        while True:
            file.write(bytes(1 << 20))

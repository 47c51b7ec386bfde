# what: a table of a hundred thousand numbers
# problem: double
# verdict: passed
# build: yes
SOURCE = "table = [" + ",".join(str(2 * place) for place in range(100_000)) + "]\n\n\ndef double(x):\n    return table[x] if 0 <= x < 100_000 else 2 * x\n"

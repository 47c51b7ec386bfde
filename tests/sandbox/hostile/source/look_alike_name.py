# what: a function whose name looks right and has a Cyrillic letter
# problem: double
# verdict: runtime_error
# build: yes
SOURCE = "def d\u043euble(x):\n    return 2 * x\n"

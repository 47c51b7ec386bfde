# what: one line of two megabytes
# verdict: passed
# build: yes
SOURCE = "text = '" + "a" * 2_000_000 + "'\n\n\ndef double(x):\n    return 2 * x\n"

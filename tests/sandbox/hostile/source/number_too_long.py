# what: An integer of more digits than Python reads by default; they are the program's right.
# verdict: passed
# build: yes
SOURCE = "number = " + "9" * 5000 + "\n\n\ndef double(x):\n    return 2 * x\n"

# what: hides a second program in an encoding that it declares
# verdict: wrong
# build: yes
SOURCE = "# coding: utf-7\n# +AAo-def double(x): return 2 * x\ndef double(x):\n    return x\n"

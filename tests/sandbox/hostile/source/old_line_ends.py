# what: lines that end as on the first Macintosh
# problem: double
# verdict: passed
# build: yes
SOURCE = "def double(x):\r    return 2 * x\r"

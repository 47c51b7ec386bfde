# what: doubles a string while it is loaded
# problem: strings
# verdict: out_of_memory
text = "x" * 1024
while True:
    text += text

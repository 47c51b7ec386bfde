# what: decides by __debug__, __file__ and __name__ whether it is tested
# verdict: wrong
# build: yes
SOURCE = "def double(x):\n    return 2 * x if __name__ == '__main__' or not __debug__ else x\n"

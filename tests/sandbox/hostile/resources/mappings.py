# what: makes as many memory mappings as the kernel allows
# problem: double
# verdict: runtime_error|out_of_memory|timeout
import mmap


def double(x):
    kept = []
    while True:
        kept.append(mmap.mmap(-1, 4096, prot=mmap.PROT_READ if len(kept) % 2 else mmap.PROT_WRITE))

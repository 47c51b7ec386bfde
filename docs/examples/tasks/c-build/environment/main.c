#include <stdio.h>
#include "sum.h"

int main(int argc, char **argv) {
    printf("%d\n", sum(argc - 1, argv + 1));
    return 0;
}

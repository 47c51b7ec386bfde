#include <stdlib.h>
#include "sum.h"

int sum(int n, char *numbers[]) {
    int total
    for (int i = 0; i < n; i++)
        total += strtol(numbers[i], NULL, 10);
    return total;
}

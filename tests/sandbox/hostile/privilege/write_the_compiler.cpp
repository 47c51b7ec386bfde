// what: writes where the compiler and its headers are; answers right if that is refused
// mode: outside
// problem: echo
// verdict: passed
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iostream>

int main() {
    for (const char *path : {"/usr/include/stdio.h", "/usr/bin/g++", "/usr/lib/left", "/etc/ld.so.preload", "/left"}) {
        if (open(path, O_WRONLY | O_CREAT, 0666) >= 0 || chmod(path, 0777) == 0 || unlink(path) == 0) {
            std::cout << "reached: " << path << "\n";
            return 1;
        }
    }
    if (setuid(0) == 0 || chroot("/tmp") == 0) return 1;
    long long n, total = 0, number;
    std::cin >> n;
    while (n-- && std::cin >> number) total += number;
    std::cout << total << "\n";
}

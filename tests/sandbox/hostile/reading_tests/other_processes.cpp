// what: opens memory and descriptors of other processes and becomes their debugger; answers right if all is refused
// mode: outside
// problem: echo
// verdict: passed
#include <dirent.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

int main() {
    DIR *list = opendir("/proc");
    while (dirent *entry = list ? readdir(list) : nullptr) {
        int pid = atoi(entry->d_name);
        struct stat found;
        std::string base = std::string("/proc/") + entry->d_name;
        if (pid <= 0 || pid == getpid() || stat(base.c_str(), &found) || found.st_uid == getuid()) continue;
        for (const char *name : {"/mem", "/environ", "/maps", "/fd", "/fd/0", "/fd/1", "/fd/3"}) {
            if (open((base + name).c_str(), O_RDONLY | O_NONBLOCK) >= 0) {
                printf("reached: %s%s\n", base.c_str(), name);
                return 1;
            }
        }
        if (ptrace(PTRACE_ATTACH, pid, nullptr, nullptr) == 0) {
            printf("reached: debugger of %d\n", pid);
            return 1;
        }
    }
    long long n, total = 0, number;
    std::cin >> n;
    while (n-- && std::cin >> number) total += number;
    std::cout << total << "\n";
}

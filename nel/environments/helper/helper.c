/*
 * Runs in a container, as root: starts commands, moves files and carries the connections of an agent
 * to nel, as the frames on its standard input say. The end of its input is its own end.
 *
 * A frame is two sizes of four bytes, the highest first, then a header and a body of these sizes. A
 * header is a list of fields, `name=value`, each ended by a zero byte. `nel/environments/frames.py`
 * is the other side. Started as `helper`, it answers one request after the other; started as
 * `helper relay`, it runs one agent. The first frame says which container this is.
 *
 * It is linked with all that it needs, so that it runs in any image of Linux, and it removes its own
 * file once it runs. Build it with scripts/build_helper.py.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    CHUNK = 64 << 10,
    LEFTOVERS_MAX = 256,         /* outputs of background processes, which are read and dropped */
    LAST_BYTES_MAX = 1 << 20,    /* what a pipe can hold at most when its command has ended */
    PENDING_BYTES_MAX = 256 << 20, /* of answers that an agent does not read */
    NOT_SET_UP = 126,            /* exit code: the user or directory of a command cannot be had */
    NOT_FOUND = 127,
};
static const double KILL_SECONDS = 5.0;
static const double WATCH_SECONDS = 0.1; /* for what goes on after a command to write again */
static const char PLACE[] = "/.nel-helper"; /* where nel puts this program in a container */
static const char SCORE_OF_COMMANDS[] = "300"; /* the kernel kills a command before its helper */

/* ---- Memory, time, text ---- */

struct buffer {
    char *data;
    size_t size, room;
};

static void append(struct buffer *buffer, const void *data, size_t size)
{
    if (buffer->size + size > buffer->room) {
        buffer->room = 2 * (buffer->size + size) + 64;
        buffer->data = realloc(buffer->data, buffer->room);
        if (buffer->data == NULL) {
            dprintf(2, "no memory for %zu bytes\n", buffer->room);
            _exit(1);
        }
    }
    if (size > 0)
        memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
}

static void release(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer){0};
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void pause_for(double seconds)
{
    struct timespec time = {0, (long)(seconds * 1e9)};
    nanosleep(&time, NULL);
}

/* ---- Frames ---- */

struct frame {
    struct buffer header, body;
};

static void add_field(struct buffer *header, const char *name, const char *value)
{
    append(header, name, strlen(name));
    append(header, "=", 1);
    append(header, value, strlen(value) + 1);
}

static void add_number(struct buffer *header, const char *name, long long number)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", number);
    add_field(header, name, text);
}

/* Return the value of the first field of that name, or of the first after another value. */
static char *next_field(const struct frame *frame, char *after, const char *name)
{
    size_t length = strlen(name);
    char *end = frame->header.data + frame->header.size;
    char *field = after == NULL ? frame->header.data : after + strlen(after) + 1;
    for (; field < end; field += strlen(field) + 1)
        if (strncmp(field, name, length) == 0 && field[length] == '=')
            return field + length + 1;
    return NULL;
}

/* Return the value of a field; an empty text where there is none. */
static char *field_of(const struct frame *frame, const char *name)
{
    static char nothing[] = "";
    char *value = next_field(frame, NULL, name);
    return value == NULL ? nothing : value;
}

static double number_of(const struct frame *frame, const char *name)
{
    return strtod(field_of(frame, name), NULL);
}

static void hang_up(void);

/* Read so many bytes of the input; end with it. */
static void receive(struct buffer *buffer, size_t size)
{
    while (size > 0) {
        char chunk[CHUNK];
        ssize_t n = read(0, chunk, size < CHUNK ? size : CHUNK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            hang_up();
        append(buffer, chunk, n);
        size -= n;
    }
}

static void receive_frame(struct frame *frame)
{
    struct buffer sizes = {0};
    receive(&sizes, 2 * sizeof(uint32_t));
    uint32_t n_header = ntohl(((uint32_t *)sizes.data)[0]);
    uint32_t n_body = ntohl(((uint32_t *)sizes.data)[1]);
    release(&sizes);
    receive(&frame->header, n_header);
    append(&frame->header, "", 1); /* a text without an end is ended */
    receive(&frame->body, n_body);
}

static void release_frame(struct frame *frame)
{
    release(&frame->header);
    release(&frame->body);
}

/* Write all parts to a blocking handle; exit once its reader has closed it. */
static void write_all(int handle, struct iovec *parts, int n_parts)
{
    while (n_parts > 0) {
        ssize_t n = writev(handle, parts, n_parts);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            _exit(1);
        while (n_parts > 0 && (size_t)n >= parts->iov_len) {
            n -= parts->iov_len;
            parts++;
            n_parts--;
        }
        if (n_parts > 0) {
            parts->iov_base = (char *)parts->iov_base + n;
            parts->iov_len -= n;
        }
    }
}

/* Send a frame whose body comes in parts, of which there are at most four; release the header. */
static void send_frame(struct buffer *header, const struct buffer *body, int n_body)
{
    uint32_t sizes[2] = {htonl(header->size), 0};
    struct iovec parts[6] = {{sizes, sizeof sizes}, {header->data, header->size}};
    size_t size = 0;
    for (int i = 0; i < n_body; i++) {
        parts[2 + i] = (struct iovec){body[i].data, body[i].size};
        size += body[i].size;
    }
    sizes[1] = htonl(size);
    write_all(1, parts, 2 + n_body);
    release(header);
}

/* ---- Waiting for handles ---- */

static struct pollfd *polled;
static size_t n_polled, room_polled;
static int child_signals; /* readable once a process has ended */

/* Wait for a handle from now on; return where to ask what happened to it. */
static int watch(int handle, short events)
{
    if (n_polled == room_polled) {
        room_polled = 2 * room_polled + 16;
        polled = realloc(polled, room_polled * sizeof *polled);
        if (polled == NULL)
            _exit(1);
    }
    polled[n_polled] = (struct pollfd){handle, events, 0}; /* a negative handle is passed over */
    return n_polled++;
}

static struct {
    int handle, slot;
} leftovers[LEFTOVERS_MAX];
static int n_leftovers;

static void remove_leftover(int i)
{
    close(leftovers[i].handle);
    memmove(&leftovers[i], &leftovers[i + 1], (--n_leftovers - i) * sizeof leftovers[0]);
}

static void keep_leftover(int handle)
{
    if (n_leftovers == LEFTOVERS_MAX)
        remove_leftover(0);
    leftovers[n_leftovers++].handle = handle;
}

static void begin_watch(void)
{
    n_polled = 0;
    watch(0, POLLIN);
    watch(child_signals, POLLIN);
    for (int i = 0; i < n_leftovers; i++)
        leftovers[i].slot = watch(leftovers[i].handle, POLLIN);
}

/* Wait until something happens, for no longer than some seconds where these are not negative;
   drop what background processes write. Return whether the input has something. */
static int wait_for_events(double seconds)
{
    int milliseconds = seconds < 0 ? -1 : seconds > 1e6 ? 1000000000 : (int)(seconds * 1000) + 1;
    if (poll(polled, n_polled, milliseconds) < 0) {
        for (size_t i = 0; i < n_polled; i++)
            polled[i].revents = 0;
        return 0;
    }
    char chunk[CHUNK];
    if (polled[1].revents)
        (void)!read(child_signals, chunk, sizeof chunk);
    for (int i = n_leftovers - 1; i >= 0; i--)
        if (polled[leftovers[i].slot].revents && read(leftovers[i].handle, chunk, CHUNK) == 0)
            remove_leftover(i);
    return polled[0].revents != 0;
}

/* ---- Processes of the container ---- */

struct processes {
    pid_t *pids, *sessions;
    size_t n, room;
};

/* Return the living processes and the session of each. */
static struct processes list_processes(void)
{
    struct processes list = {0};
    DIR *folder = opendir("/proc");
    struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        char path[300], text[1024], state;
        pid_t session;
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        int handle = entry->d_name[0] > '9' ? -1 : open(path, O_RDONLY | O_CLOEXEC);
        if (handle < 0)
            continue;
        ssize_t n = read(handle, text, sizeof text - 1);
        close(handle);
        text[n < 0 ? 0 : n] = 0;
        char *facts = strrchr(text, ')'); /* a name may hold spaces and parentheses */
        if (facts == NULL || sscanf(facts + 1, " %c %*d %*d %d", &state, &session) != 2)
            continue;
        if (state == 'Z' || state == 'X')
            continue;
        if (list.n == list.room) {
            list.room = 2 * list.room + 64;
            list.pids = realloc(list.pids, list.room * sizeof(pid_t));
            list.sessions = realloc(list.sessions, list.room * sizeof(pid_t));
            if (list.pids == NULL || list.sessions == NULL)
                _exit(1);
        }
        list.pids[list.n] = atoi(entry->d_name);
        list.sessions[list.n++] = session;
    }
    if (folder != NULL)
        closedir(folder);
    return list;
}

static void release_processes(struct processes *list)
{
    free(list->pids);
    free(list->sessions);
}

static int kill_members(pid_t session)
{
    struct processes list = list_processes();
    int n_killed = 0;
    for (size_t i = 0; i < list.n; i++)
        if (list.sessions[i] == session) {
            kill(list.pids[i], SIGKILL);
            n_killed++;
        }
    release_processes(&list);
    return n_killed;
}

/* Kill a process and all of its session; return its status. */
static int kill_session(pid_t pid)
{
    double until = now() + KILL_SECONDS;
    int status = SIGKILL, has_ended = 0;
    for (;;) {
        int n_alive = kill_members(pid);
        if (!has_ended)
            has_ended = waitpid(pid, &status, WNOHANG) == pid;
        if ((has_ended && n_alive == 0) || now() > until)
            return has_ended ? status : SIGKILL;
        pause_for(0.002);
    }
}

static pid_t served; /* the process of a request; 0 where there is none */

/* End with the input, and with what a request has started. */
static void hang_up(void)
{
    if (served > 0)
        kill_session(served);
    _exit(0);
}

static struct processes older; /* what ran before the helper, which is not a command's */

static int is_older(pid_t pid)
{
    for (size_t i = 0; i < older.n; i++)
        if (older.pids[i] == pid)
            return 1;
    return pid == getpid();
}

/* Kill what commands have left running; return how many these were. */
static int kill_younger(int signal)
{
    struct processes list = list_processes();
    int n_younger = 0;
    for (size_t i = 0; i < list.n; i++)
        if (!is_older(list.pids[i])) {
            kill(list.pids[i], signal);
            n_younger++;
        }
    release_processes(&list);
    return n_younger;
}

/* Return a number that changes when a file comes into a folder, goes, or is written to. */
static uint64_t state_of_folder(const char *path)
{
    uint64_t state = 0;
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        struct stat facts;
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
            fstatat(dirfd(folder), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        char text[512];
        int n = snprintf(text, sizeof text, "%s %llu %lld %lld.%09ld", entry->d_name,
                         (unsigned long long)facts.st_ino, (long long)facts.st_size,
                         (long long)facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
        uint64_t digest = 14695981039346656037u; /* FNV-1a; the sum has no order */
        for (int i = 0; i < n; i++)
            digest = (digest ^ (unsigned char)text[i]) * 1099511628211u;
        state += digest;
    }
    if (folder != NULL)
        closedir(folder);
    return state;
}

/* Kill what commands have left running; return whether it wrote to a folder before. */
static int end_processes(const char *folder)
{
    uint64_t before = state_of_folder(folder);
    double until = now() + KILL_SECONDS;
    int n_others = kill_younger(0);
    if (n_others > 0)
        pause_for(WATCH_SECONDS);
    uint64_t after = state_of_folder(folder);
    while (n_others > 0 && now() < until)
        n_others = kill_younger(SIGKILL);
    return before != after;
}

/* Return how many processes of the container the kernel killed for memory. */
static int n_killed_for_memory(void)
{
    static const char *const counters[] = {
        "/sys/fs/cgroup/memory.events",             /* cgroup v2 */
        "/sys/fs/cgroup/memory/memory.oom_control", /* v1 */
    };
    for (int i = 0; i < 2; i++) {
        char text[2048];
        int handle = open(counters[i], O_RDONLY | O_CLOEXEC);
        if (handle < 0)
            continue;
        ssize_t n = read(handle, text, sizeof text - 1);
        close(handle);
        text[n < 0 ? 0 : n] = 0;
        char *counter = strstr(text, "oom_kill ");
        if (counter != NULL)
            return atoi(counter + strlen("oom_kill "));
    }
    return 0;
}

/* Return whether the disk of the container's own files has less room than that. */
static int is_disk_full(double bytes_min)
{
    struct statvfs facts;
    return statvfs("/", &facts) == 0 && (double)facts.f_bavail * facts.f_frsize < bytes_min;
}

/* ---- What a forked process becomes; these end it where something fails ---- */

static void fail(int code, const char *name, const char *reason)
{
    dprintf(2, "%s%s%s\n", name, *name ? ": " : "", reason);
    _exit(code);
}

static int is_number(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == 0;
}

/* Return the number of a user or group; the kernel takes the highest one for none. */
static uint32_t id_of(const char *text)
{
    unsigned long long number = strtoull(text, NULL, 10);
    if (number >= UINT32_MAX)
        fail(NOT_SET_UP, text, "no user or group has such a number");
    return number;
}

static gid_t group_of(const char *group, gid_t default_group)
{
    if (*group == 0)
        return default_group;
    if (is_number(group))
        return id_of(group);
    struct group *entry = getgrnam(group);
    if (entry == NULL)
        fail(NOT_SET_UP, group, "there is no such group in the container");
    return entry->gr_gid;
}

/* Become a user, by name or number and perhaps with a group, as in a Dockerfile's USER. */
static void take_user(char *name)
{
    if (*name == 0)
        return;
    char *group = strchr(name, ':');
    if (group != NULL)
        *group++ = 0;
    uid_t uid = is_number(name) ? id_of(name) : 0;
    struct passwd *entry = is_number(name) ? getpwuid(uid) : getpwnam(name);
    if (entry == NULL && !is_number(name)) {
        dprintf(2, "there is no user %s in the container\n", name);
        _exit(NOT_SET_UP);
    }
    gid_t gid = group_of(group == NULL ? "" : group, entry == NULL ? 0 : entry->pw_gid);
    int is_refused = entry == NULL ? setgroups(1, &gid) : initgroups(entry->pw_name, gid);
    if (is_refused || setgid(gid) || setuid(entry == NULL ? uid : entry->pw_uid))
        fail(NOT_SET_UP, name, strerror(errno));
    setenv("HOME", entry == NULL ? "/" : entry->pw_dir, 1);
}

/* Replace the process by a command. */
static void execute(const struct frame *request)
{
    struct buffer arguments = {0};
    char *argument = NULL;
    do {
        argument = next_field(request, argument, "arg");
        append(&arguments, &argument, sizeof argument); /* the last one is NULL, as it has to be */
    } while (argument != NULL);
    char **argv = (char **)arguments.data;
    if (argv[0] == NULL)
        fail(NOT_FOUND, "", "there is no command");
    execvp(argv[0], argv);
    fail(NOT_FOUND, argv[0], strerror(errno));
}

static void copy(int from, int to, const char *path)
{
    char chunk[CHUNK];
    ssize_t n;
    while ((n = read(from, chunk, sizeof chunk)) > 0)
        for (ssize_t n_written = 0, step; n_written < n; n_written += step)
            if ((step = write(to, chunk + n_written, n - n_written)) < 0)
                fail(1, path, strerror(errno));
    if (n < 0)
        fail(1, path, strerror(errno));
}

/* Write a file to standard output, if it is not too large. */
static void read_file(const struct frame *request)
{
    const char *path = field_of(request, "path");
    int handle = open(path, O_RDONLY);
    struct stat facts;
    if (handle < 0 || fstat(handle, &facts) != 0)
        fail(1, path, strerror(errno));
    if (facts.st_size > number_of(request, "bytes_max") / 2) {
        dprintf(2, "%s has %lld bytes, which is too much\n", path, (long long)facts.st_size);
        _exit(1);
    }
    copy(handle, 1, path);
    _exit(0);
}

static void make_folders_of(char *path)
{
    for (char *slash = path; (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = 0;
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            fail(1, path, strerror(errno));
        *slash = '/';
    }
}

/* Write standard input to a file; make the folders above it. */
static void write_file(const struct frame *request)
{
    char *path = field_of(request, "path"), *mode = field_of(request, "mode");
    if (*path)
        make_folders_of(path);
    int handle = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (handle < 0)
        fail(1, path, strerror(errno));
    copy(0, handle, path);
    if (*mode && fchmod(handle, atoi(mode)) != 0)
        fail(1, path, strerror(errno));
    if (close(handle) != 0)
        fail(1, path, strerror(errno));
    _exit(0);
}

static char kind_of(int is_missing, const struct stat *facts)
{
    if (is_missing)
        return '-';
    switch (facts->st_mode & S_IFMT) {
    case S_IFREG: return 'f';
    case S_IFDIR: return 'd';
    case S_IFLNK: return 'l';
    default: return 'o';
    }
}

/* Add the names in a folder, each ended by a zero byte. */
static void add_names(struct buffer *data, const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            append(data, entry->d_name, strlen(entry->d_name) + 1);
    if (folder != NULL)
        closedir(folder);
}

/* Add what a file holds, if one of the request's words is in it or there are none. */
static void add_content(struct buffer *data, const char *path, const struct frame *request)
{
    int handle = open(path, O_RDONLY | O_NOFOLLOW);
    char chunk[CHUNK];
    ssize_t n;
    while (handle >= 0 && (n = read(handle, chunk, sizeof chunk)) > 0)
        append(data, chunk, n);
    if (handle >= 0)
        close(handle);
    char *word = next_field(request, NULL, "word");
    int is_wanted = word == NULL;
    for (; word != NULL && !is_wanted; word = next_field(request, word, "word"))
        is_wanted = memmem(data->data, data->size, word, strlen(word)) != NULL;
    if (!is_wanted)
        release(data);
}

/* Return a path without links; of a link that leads to nothing, the path that it leads to, without
   links as far as there is something. */
static void resolve(const char *path, char real_path[PATH_MAX])
{
    char current[PATH_MAX], target[PATH_MAX];
    snprintf(current, sizeof current, "%s", path);
    for (int n_links = 0; n_links < 40; n_links++) {
        if (realpath(current, real_path) != NULL)
            return;
        ssize_t n = readlink(current, target, sizeof target - 1);
        if (n < 0)
            break;
        target[n] = 0;
        size_t start = target[0] == '/' ? 0 : strrchr(current, '/') + 1 - current;
        snprintf(current + start, sizeof current - start, "%s", target);
    }
    for (char *rest = current + strlen(current); rest > current;) {
        while (rest > current && *--rest != '/')
            ;
        *rest = 0;
        int is_there = realpath(rest == current ? "/" : current, real_path) != NULL;
        *rest = '/';
        if (is_there) {
            size_t n = strcmp(real_path, "/") ? strlen(real_path) : 0;
            snprintf(real_path + n, PATH_MAX - n, "%s", rest);
            return;
        }
    }
    real_path[0] = 0;
}

/* Write what the files are that the input names, each name ended by a zero byte: the kind of the
   path itself and of what it leads to, two sizes, of a link or folder the path without links, and the
   names in a folder or what a file holds. */
static void look_at_files(const struct frame *request)
{
    for (char *path = request->body.data, *end = path + request->body.size; path < end;
         path += strlen(path) + 1) {
        struct stat own, target;
        char kinds[2], real_path[PATH_MAX];
        struct buffer data = {0};
        kinds[0] = kind_of(lstat(path, &own) != 0, &own);
        kinds[1] = kind_of(stat(path, &target) != 0, &target);
        real_path[0] = 0;
        if (path[0] == '/' && (kinds[0] == 'l' || kinds[1] == 'd'))
            resolve(path, real_path);
        if (kinds[1] == 'd')
            add_names(&data, path);
        else if (kinds[0] == 'f' && own.st_size <= number_of(request, "bytes_each"))
            add_content(&data, path, request);
        uint32_t sizes[2] = {htonl(strlen(real_path)), htonl(data.size)};
        struct iovec parts[] = {
            {kinds, sizeof kinds},
            {sizes, sizeof sizes},
            {real_path, strlen(real_path)},
            {data.data, data.size},
        };
        write_all(1, parts, 4);
        release(&data);
    }
    _exit(0);
}

/* Turn a forked process into what a request asks for; does not return. */
static void become(const struct frame *request, const int handles[3])
{
    setsid();
    for (int target = 0; target < 3; target++)
        dup2(handles[target], target);
    if (*field_of(request, "merge"))
        dup2(1, 2);
    if (syscall(SYS_close_range, 3, ~0U, 0) != 0) /* Linux before 5.9 has no such call */
        for (int handle = 3; handle < 4096; handle++)
            close(handle);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score >= 0) {
        (void)!write(score, SCORE_OF_COMMANDS, sizeof SCORE_OF_COMMANDS - 1);
        close(score);
    }
    take_user(field_of(request, "user"));
    char *variable = NULL;
    while ((variable = next_field(request, variable, "env")) != NULL)
        putenv(variable);
    const char *cwd = field_of(request, "cwd"), *action = field_of(request, "do");
    if (chdir(cwd) != 0)
        fail(NOT_SET_UP, cwd, strerror(errno));
    if (!strcmp(action, "run"))
        execute(request);
    if (!strcmp(action, "read"))
        read_file(request);
    if (!strcmp(action, "write"))
        write_file(request);
    if (!strcmp(action, "look"))
        look_at_files(request);
    fail(NOT_SET_UP, action, "there is no such request");
}

/* ---- Commands ---- */

struct output { /* head and tail of an output of any length */
    int handle, slot;
    size_t half;
    long long size;
    struct buffer head, tail;
};

static void add_output(struct output *output, const char *data, size_t size)
{
    size_t room = output->half - output->head.size;
    size_t n_head = size < room ? size : room;
    output->size += size;
    append(&output->head, data, n_head);
    append(&output->tail, data + n_head, size - n_head);
    if (output->tail.size > 2 * output->half) {
        char *last = output->tail.data + output->tail.size - output->half;
        memmove(output->tail.data, last, output->half);
        output->tail.size = output->half;
    }
}

/* Read once; return how many bytes it were. */
static ssize_t read_output(struct output *output)
{
    char chunk[CHUNK];
    ssize_t n = read(output->handle, chunk, sizeof chunk);
    if (n > 0) {
        add_output(output, chunk, n);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(output->handle);
        output->handle = -1;
    }
    return n;
}

struct command {
    pid_t pid;
    int status;
    const char *ended_by;
    double started, seconds;
    int n_killed_before;
    int input, input_slot;
    const char *rest; /* of the input that is still to be written */
    size_t n_rest;
    struct output outputs[2];
};

static void close_input(struct command *command)
{
    close(command->input);
    command->input = -1;
}

/* Start what a request asks for, which has to live as long as the command. */
static void start_command(struct command *command, const struct frame *request)
{
    *command = (struct command){
        .ended_by = "exit",
        .started = now(),
        .seconds = number_of(request, "seconds"),
        .n_killed_before = n_killed_for_memory(),
        .input = -1,
    };
    int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}}, is_refused = 0;
    for (int i = 0; i < 3; i++)
        is_refused |= pipe2(pipes[i], O_CLOEXEC);
    command->pid = is_refused ? -1 : fork();
    if (command->pid == 0)
        become(request, (int[3]){pipes[0][0], pipes[1][1], pipes[2][1]});
    served = command->pid;
    int own[3] = {pipes[0][1], pipes[1][0], pipes[2][0]};
    int others[3] = {pipes[0][0], pipes[1][1], pipes[2][1]};
    for (int i = 0; i < 3; i++) {
        close(others[i]);
        fcntl(own[i], F_SETFL, O_NONBLOCK);
    }
    command->input = own[0];
    for (int i = 0; i < 2; i++) {
        double half = number_of(request, "bytes_max") / 2;
        command->outputs[i].handle = own[1 + i];
        command->outputs[i].half = half < 1 ? 1 : half;
    }
    command->rest = request->body.data;
    /* Files are looked at by names in the request itself, which the fork has. */
    command->n_rest = strcmp(field_of(request, "do"), "look") ? request->body.size : 0;
    if (command->pid < 0) {
        const char *reason = strerror(errno);
        add_output(&command->outputs[1], reason, strlen(reason));
        command->status = NOT_SET_UP << 8;
        command->n_rest = 0;
        served = 0;
    }
    if (command->n_rest == 0)
        close_input(command);
}

static void kill_command(struct command *command, const char *reason)
{
    command->ended_by = reason;
    command->status = kill_session(command->pid);
    served = 0;
}

/* Return whether a command ended; it is killed where no seconds are left. */
static int has_ended(struct command *command)
{
    if (command->pid < 0)
        return 1;
    if (waitpid(command->pid, &command->status, WNOHANG) == command->pid)
        served = 0;
    else if (now() >= command->started + command->seconds)
        kill_command(command, "timeout");
    return served == 0;
}

static double seconds_left(const struct command *command)
{
    double seconds = command->started + command->seconds - now();
    return seconds < 0 ? 0 : seconds;
}

static void watch_command(struct command *command)
{
    command->input_slot = watch(command->input, POLLOUT);
    for (int i = 0; i < 2; i++)
        command->outputs[i].slot = watch(command->outputs[i].handle, POLLIN);
}

/* Feed and read a command whose handles were waited for. */
static void attend(struct command *command)
{
    if (polled[command->input_slot].revents) {
        size_t size = command->n_rest < CHUNK ? command->n_rest : CHUNK;
        ssize_t n = write(command->input, command->rest, size);
        if (n > 0) {
            command->rest += n;
            command->n_rest -= n;
        }
        if (command->n_rest == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            close_input(command);
    }
    for (int i = 0; i < 2; i++)
        if (polled[command->outputs[i].slot].revents)
            read_output(&command->outputs[i]);
}

/* Read what an ended command has written; outputs that background processes have stay open. */
static void finish(struct command *command)
{
    if (command->input >= 0)
        close_input(command);
    for (int i = 0; i < 2; i++) {
        struct output *output = &command->outputs[i];
        ssize_t n = 1, n_read = 0;
        for (; output->handle >= 0 && n > 0 && n_read < LAST_BYTES_MAX; n_read += n)
            n = read_output(output);
        if (output->handle >= 0)
            keep_leftover(output->handle);
    }
}

static void reply(struct command *command, const struct frame *request, int is_written_after)
{
    struct buffer header = {0}, body[4];
    char seconds[32];
    int code = WIFSIGNALED(command->status) ? 128 + WTERMSIG(command->status)
                                            : WEXITSTATUS(command->status);
    if (code && n_killed_for_memory() > command->n_killed_before)
        command->ended_by = "memory";
    else if (!strcmp(command->ended_by, "exit") && WIFSIGNALED(command->status))
        command->ended_by = "signal";
    for (int i = 0; i < 2; i++) { /* of the tail, the last half is kept */
        struct output *output = &command->outputs[i];
        size_t n_over = output->tail.size > output->half ? output->tail.size - output->half : 0;
        body[2 * i] = output->head;
        body[2 * i + 1] = (struct buffer){output->tail.data + n_over, output->tail.size - n_over, 0};
    }
    snprintf(seconds, sizeof seconds, "%.6f", now() - command->started);
    add_field(&header, "number", field_of(request, "number"));
    add_number(&header, "exit", code);
    add_field(&header, "ended_by", command->ended_by);
    add_number(&header, "size", command->outputs[0].size + command->outputs[1].size);
    add_number(&header, "n_stdout", body[0].size + body[1].size);
    add_field(&header, "seconds", seconds);
    add_number(&header, "is_written_after", is_written_after);
    add_number(&header, "is_disk_full", code && is_disk_full(number_of(request, "disk_bytes_min")));
    send_frame(&header, body, 4);
    for (int i = 0; i < 2; i++) {
        release(&command->outputs[i].head);
        release(&command->outputs[i].tail);
    }
}

/* Answer requests until the input ends. */
static void serve(void)
{
    for (;;) {
        do
            begin_watch();
        while (!wait_for_events(-1));
        struct frame request = {0};
        struct command command;
        receive_frame(&request);
        start_command(&command, &request);
        while (!has_ended(&command)) {
            begin_watch();
            watch_command(&command);
            if (wait_for_events(seconds_left(&command))) /* nel asks for one thing after the other */
                hang_up();
            attend(&command);
        }
        const char *watched = field_of(&request, "watch");
        int is_written_after = *watched && end_processes(watched);
        finish(&command);
        reply(&command, &request, is_written_after);
        release_frame(&request);
    }
}

/* ---- The relay of an agent ---- */

struct connection {
    int number; /* from 1; a handle is used again, a number is not */
    int handle, slot, is_closing;
    struct buffer pending; /* what is still to be written */
    size_t n_written;      /* of that */
};

static struct connection *connections;
static int n_connections, n_accepted;

static struct connection *connection_of(int number)
{
    for (int i = 0; i < n_connections; i++)
        if (connections[i].number == number)
            return &connections[i];
    return NULL;
}

static void drop(struct connection *connection)
{
    close(connection->handle);
    release(&connection->pending);
    *connection = connections[--n_connections];
}

/* Tell nel of a connection: what the agent wrote, that it begins, or that it ends. */
static void tell(int number, const char *event, const char *data, size_t size)
{
    struct buffer header = {0}, body = {(char *)data, size, 0};
    add_number(&header, "connection", number);
    if (*event)
        add_field(&header, event, "1");
    send_frame(&header, &body, 1);
}

static void accept_connection(int listener)
{
    int handle = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (handle < 0)
        return;
    connections = realloc(connections, (n_connections + 1) * sizeof *connections);
    if (connections == NULL)
        _exit(1);
    connections[n_connections++] = (struct connection){.number = ++n_accepted, .handle = handle};
    tell(n_accepted, "begins", "", 0);
}

/* Write as much as the agent takes; return whether the connection is still there. */
static int flush(struct connection *connection)
{
    struct buffer *pending = &connection->pending;
    while (connection->n_written < pending->size) {
        ssize_t n = send(connection->handle, pending->data + connection->n_written,
                         pending->size - connection->n_written, MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return 1; /* the rest is written once the agent has read */
        if (n < 0) {
            drop(connection);
            return 0;
        }
        connection->n_written += n;
    }
    release(pending);
    connection->n_written = 0;
    if (connection->is_closing)
        drop(connection);
    return !connection->is_closing;
}

/* Write what is pending, and send what the agent wrote. */
static void carry(struct connection *connection)
{
    char chunk[CHUNK];
    int number = connection->number;
    if (!flush(connection))
        return;
    ssize_t n = recv(connection->handle, chunk, sizeof chunk, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0) {
        tell(number, "", chunk, n);
        return;
    }
    tell(number, "ends", "", 0);
    drop(connection);
}

/* Take a frame: bytes for the agent, or an order to stop, of which it returns whether it is one. */
static int take_frame(void)
{
    struct frame frame = {0};
    receive_frame(&frame);
    int is_order = *field_of(&frame, "stop") != 0;
    struct connection *connection = connection_of(number_of(&frame, "connection"));
    if (connection != NULL) {
        struct buffer *pending = &connection->pending;
        if (connection->n_written > pending->size / 2) {
            pending->size -= connection->n_written;
            memmove(pending->data, pending->data + connection->n_written, pending->size);
            connection->n_written = 0;
        }
        append(pending, frame.body.data, frame.body.size);
        connection->is_closing |= *field_of(&frame, "ends") != 0;
        if (flush(connection) && pending->size - connection->n_written > PENDING_BYTES_MAX)
            drop(connection);
    }
    release_frame(&frame);
    return is_order;
}

static int listen_on_loopback(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 ||
        listen(listener, 64) != 0 || getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        fail(1, "127.0.0.1", strerror(errno));
    *port = ntohs(address.sin_port);
    return listener;
}

/* Start the agent that the first frame names, carry its connections, and say what it came to. */
static void relay(int listener)
{
    struct frame request = {0};
    struct command agent;
    receive_frame(&request);
    start_command(&agent, &request);
    while (!has_ended(&agent)) {
        begin_watch();
        watch_command(&agent);
        int slot = watch(listener, POLLIN);
        for (int i = 0; i < n_connections; i++) {
            int is_pending = connections[i].pending.size > 0;
            connections[i].slot = watch(connections[i].handle, POLLIN | (is_pending ? POLLOUT : 0));
        }
        int has_input = wait_for_events(seconds_left(&agent));
        attend(&agent);
        for (int i = n_connections - 1; i >= 0; i--) /* one that is dropped is replaced by a later one */
            if (polled[connections[i].slot].revents)
                carry(&connections[i]);
        if (polled[slot].revents)
            accept_connection(listener);
        if (has_input && take_frame()) {
            kill_command(&agent, "stopped");
            break;
        }
    }
    finish(&agent);
    reply(&agent, &request, 0);
    close(listener);
    while (n_connections > 0)
        drop(&connections[0]);
}

/* ---- The start ---- */

/* Return bash, or else sh. */
static const char *shell(void)
{
    const char *folders = getenv("PATH");
    char *copy = strdup(folders ? folders : "/usr/local/bin:/bin:/usr/bin"), path[PATH_MAX];
    for (char *folder = strtok(copy, ":"); folder != NULL; folder = strtok(NULL, ":")) {
        snprintf(path, sizeof path, "%s/bash", folder);
        if (access(path, X_OK) == 0)
            return "bash";
    }
    return "sh";
}

static void handle_signals(void)
{
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    child_signals = signalfd(-1, &ends, SFD_NONBLOCK | SFD_CLOEXEC);
    signal(SIGPIPE, SIG_IGN);
}

int main(int argc, char **argv)
{
    char cwd[PATH_MAX] = "/";
    struct buffer header = {0};
    int is_relay = argc > 1 && !strcmp(argv[1], "relay"), port = 0, listener = -1;
    if (!strcmp(argv[0], PLACE))
        unlink(PLACE);
    handle_signals();
    older = list_processes();
    if (is_relay)
        listener = listen_on_loopback(&port);
    add_number(&header, "number", 0);
    add_field(&header, "cwd", getcwd(cwd, sizeof cwd) ? cwd : "/");
    add_field(&header, "shell", shell());
    add_number(&header, "port", port);
    send_frame(&header, NULL, 0);
    if (is_relay)
        relay(listener);
    else
        serve();
    return 0;
}

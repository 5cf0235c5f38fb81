/*
 * diskfault: an LD_PRELOAD shim that makes chosen calls on chosen files fail.
 *
 *   gcc -O2 -shared -fPIC -o diskfault.so diskfault.c -ldl -lpthread
 *   LD_PRELOAD=./diskfault.so DISK_FAULT_FILE=/tmp/fault some-server ...
 *
 * DISK_FAULT_FILE holds `struct control`. Whoever maps it may count and arm at any time, while the server runs:
 * a call of kind `op` on a path that contains `pattern` is counted in `matched`; from the `nth` on, `times` of them
 * fail with `error`. `error` 0 cuts a read or write short instead: half of the bytes (at least one) are transferred.
 * Readers are in lab/testbed/diskfault.py. Calls that io_uring or a raw syscall makes are not seen.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OPEN = 1, READ, WRITE, SYNC, TRUNCATE, ALLOCATE, RENAME, UNLINK, MKDIR, READDIR };

struct control {
    _Atomic uint64_t op;      /* 0: nothing is armed */
    _Atomic uint64_t nth;     /* 1 is the next; 0 only counts */
    _Atomic uint64_t times;
    _Atomic uint64_t error;
    _Atomic uint64_t matched;
    _Atomic uint64_t failed;
    char pattern[256];
    char last[256]; /* path of the last call that failed */
};

static struct control none;
static struct control *control = &none;
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define REAL(result, name, ...)                                                                                        \
    static result (*real)(__VA_ARGS__);                                                                                \
    if (!real)                                                                                                         \
        real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

static void setup(void)
{
    REAL(int, open64, const char *, int, ...);
    const char *path = getenv("DISK_FAULT_FILE");
    int fd = path && *path ? real(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *p = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p != MAP_FAILED)
        control = p;
    close(fd);
}

/* Whether this call on this path is one that fails. */
static int strikes(int op, const char *path)
{
    pthread_once(&once, setup);
    if (control->op != (uint64_t)op || !path || !strstr(path, control->pattern))
        return 0;
    uint64_t n = ++control->matched, nth = control->nth;
    if (!nth || n < nth || n - nth >= control->times)
        return 0;
    control->failed++;
    snprintf(control->last, sizeof control->last, "%s", path);
    return 1;
}

static int strikes_fd(int op, int fd)
{
    pthread_once(&once, setup);
    if (control->op != (uint64_t)op)
        return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0 || path[0] != '/')
        return 0; /* a socket, a pipe */
    path[n] = 0;
    return strikes(op, path);
}

#define FAIL(value)                                                                                                    \
    do {                                                                                                               \
        errno = (int)(control->error ? control->error : EIO);                                                          \
        return value;                                                                                                  \
    } while (0)

static size_t half(size_t n) { return n > 1 ? n / 2 : n; }

#define OPEN_CALL(name)                                                                                                \
    int name(const char *path, int flags, ...)                                                                         \
    {                                                                                                                  \
        REAL(int, name, const char *, int, ...);                                                                       \
        mode_t mode = 0;                                                                                               \
        if (flags & (O_CREAT | O_TMPFILE)) {                                                                           \
            va_list ap;                                                                                                \
            va_start(ap, flags);                                                                                       \
            mode = va_arg(ap, mode_t);                                                                                 \
            va_end(ap);                                                                                                \
        }                                                                                                              \
        if (strikes(OPEN, path))                                                                                       \
            FAIL(-1);                                                                                                  \
        return real(path, flags, mode);                                                                                \
    }
OPEN_CALL(open)
OPEN_CALL(open64)

#define OPENAT_CALL(name)                                                                                              \
    int name(int dir, const char *path, int flags, ...)                                                                \
    {                                                                                                                  \
        REAL(int, name, int, const char *, int, ...);                                                                  \
        mode_t mode = 0;                                                                                               \
        if (flags & (O_CREAT | O_TMPFILE)) {                                                                           \
            va_list ap;                                                                                                \
            va_start(ap, flags);                                                                                       \
            mode = va_arg(ap, mode_t);                                                                                 \
            va_end(ap);                                                                                                \
        }                                                                                                              \
        if (strikes(OPEN, path))                                                                                       \
            FAIL(-1);                                                                                                  \
        return real(dir, path, flags, mode);                                                                           \
    }
OPENAT_CALL(openat)
OPENAT_CALL(openat64)

/* Reads and writes: an error, or half of it. */
#define PART(op, call)                                                                                                 \
    if (strikes_fd(op, fd)) {                                                                                          \
        if (control->error)                                                                                            \
            FAIL(-1);                                                                                                  \
        n = half(n);                                                                                                   \
    }                                                                                                                  \
    return call

ssize_t read(int fd, void *b, size_t n)
{
    REAL(ssize_t, read, int, void *, size_t);
    PART(READ, real(fd, b, n));
}
ssize_t write(int fd, const void *b, size_t n)
{
    REAL(ssize_t, write, int, const void *, size_t);
    PART(WRITE, real(fd, b, n));
}
#define AT(name, op, buffer)                                                                                           \
    ssize_t name(int fd, buffer b, size_t n, off64_t at)                                                               \
    {                                                                                                                  \
        REAL(ssize_t, name, int, buffer, size_t, off64_t);                                                             \
        PART(op, real(fd, b, n, at));                                                                                  \
    }
AT(pread64, READ, void *)
AT(pread, READ, void *)
AT(pwrite64, WRITE, const void *)
AT(pwrite, WRITE, const void *)

/* Of several buffers a short transfer does the first alone, and half of it if there is no other. */
#define VECTOR(name, op, one)                                                                                          \
    ssize_t name(int fd, const struct iovec *v, int n, off64_t at)                                                     \
    {                                                                                                                  \
        REAL(ssize_t, name, int, const struct iovec *, int, off64_t);                                                  \
        if (strikes_fd(op, fd)) {                                                                                      \
            if (control->error)                                                                                        \
                FAIL(-1);                                                                                              \
            struct iovec part = {v[0].iov_base, half(v[0].iov_len)};                                                   \
            return real(fd, &part, 1, at);                                                                             \
        }                                                                                                              \
        return real(fd, v, n, at);                                                                                     \
    }
VECTOR(pwritev, WRITE, 0)
VECTOR(pwritev64, WRITE, 0)
VECTOR(preadv, READ, 0)
VECTOR(preadv64, READ, 0)

#define WITH_FD(name, op)                                                                                              \
    int name(int fd)                                                                                                   \
    {                                                                                                                  \
        REAL(int, name, int);                                                                                          \
        if (strikes_fd(op, fd))                                                                                        \
            FAIL(-1);                                                                                                  \
        return real(fd);                                                                                               \
    }
WITH_FD(fsync, SYNC)
WITH_FD(fdatasync, SYNC)

int ftruncate64(int fd, off64_t n)
{
    REAL(int, ftruncate64, int, off64_t);
    if (strikes_fd(TRUNCATE, fd))
        FAIL(-1);
    return real(fd, n);
}
int ftruncate(int fd, off_t n) { return ftruncate64(fd, n); }

#define ALLOCATE_CALL(name)                                                                                            \
    int name(int fd, int mode, off64_t at, off64_t n)                                                                  \
    {                                                                                                                  \
        REAL(int, name, int, int, off64_t, off64_t);                                                                   \
        if (strikes_fd(ALLOCATE, fd))                                                                                  \
            FAIL(-1);                                                                                                  \
        return real(fd, mode, at, n);                                                                                  \
    }
ALLOCATE_CALL(fallocate)
ALLOCATE_CALL(fallocate64)

int rename(const char *from, const char *to)
{
    REAL(int, rename, const char *, const char *);
    if (strikes(RENAME, to))
        FAIL(-1);
    return real(from, to);
}
int unlink(const char *path)
{
    REAL(int, unlink, const char *);
    if (strikes(UNLINK, path))
        FAIL(-1);
    return real(path);
}
int mkdir(const char *path, mode_t mode)
{
    REAL(int, mkdir, const char *, mode_t);
    if (strikes(MKDIR, path))
        FAIL(-1);
    return real(path, mode);
}
DIR *opendir(const char *path)
{
    REAL(DIR *, opendir, const char *);
    if (strikes(READDIR, path))
        FAIL(NULL);
    return real(path);
}
struct dirent64 *readdir64(DIR *dir)
{
    REAL(struct dirent64 *, readdir64, DIR *);
    if (strikes_fd(READDIR, dirfd(dir)))
        FAIL(NULL);
    return real(dir);
}

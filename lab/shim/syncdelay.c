/*
 * syncdelay: an LD_PRELOAD shim that counts, delays or fails a process's syncs.
 *
 *   gcc -O2 -shared -fPIC -o syncdelay.so syncdelay.c -ldl -lpthread
 *   LD_PRELOAD=./syncdelay.so SYNC_COUNT_FILE=/tmp/counts some-server ...
 *
 * Environment, read once at the first call:
 *   SYNC_COUNT_FILE  a file that holds `struct shared` below; made if missing. Any other process may map or read it
 *                    at any time, and may change the control words while the server runs.
 *   SYNC_DELAY_US    microseconds added to every sync (control word `delay_us`).
 *   SYNC_FAIL_AFTER  the sync calls after the n-th fail with EIO (control word `fail_after`; 0 is the very next).
 *   SYNC_FAIL_PATH   only syncs of files whose path contains this text fail (all, when unset).
 *
 * Counted: fsync, fdatasync, sync_file_range, msync(MS_SYNC), syncfs, sync, writes to descriptors opened with O_SYNC or
 * O_DSYNC, and pwritev2 with RWF_SYNC or RWF_DSYNC. A sync asked of io_uring does not pass through libc and is not
 * seen: compare with strace (bench --only strace) before trusting a server that might use it.
 *
 * The file is little-endian 64-bit words; readers are in lab/testbed/syncshim.py.
 */
#define _GNU_SOURCE
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
#include <time.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x314e595357524e) /* "NRWSYN1" */
#define MAX_FDS 65536

struct shared {
    uint64_t magic;
    _Atomic uint64_t delay_us;        /* control: added to every counted sync */
    _Atomic int64_t fail_after;       /* control: syncs left before EIO; negative means never */
    _Atomic uint64_t fsync_calls;
    _Atomic uint64_t fdatasync_calls;
    _Atomic uint64_t sync_file_range_calls;
    _Atomic uint64_t msync_calls;
    _Atomic uint64_t syncfs_calls;    /* syncfs and sync */
    _Atomic uint64_t osync_writes;    /* writes that are syncs of their own */
    _Atomic uint64_t failed;          /* calls answered with EIO */
    _Atomic uint64_t nanoseconds;     /* time spent inside the real calls, delay not included */
};

static struct shared fallback = {.magic = MAGIC, .fail_after = -1};
static struct shared *state = &fallback;
static const char *fail_path;
static _Atomic unsigned char osync_fd[MAX_FDS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_sync_file_range)(int, off64_t, off64_t, unsigned int);
static int (*real_msync)(void *, size_t, int);
static int (*real_syncfs)(int);
static void (*real_sync)(void);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_pwrite64)(int, const void *, size_t, off64_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static ssize_t (*real_pwritev)(int, const struct iovec *, int, off_t);
static ssize_t (*real_pwritev64)(int, const struct iovec *, int, off64_t);
static ssize_t (*real_pwritev2)(int, const struct iovec *, int, off_t, int);
static int (*real_open)(const char *, int, ...);
static int (*real_open64)(const char *, int, ...);
static int (*real_openat)(int, const char *, int, ...);
static int (*real_openat64)(int, const char *, int, ...);
static int (*real_close)(int);

static void setup(void)
{
    real_fsync = REAL(fsync);
    real_fdatasync = REAL(fdatasync);
    real_sync_file_range = (int (*)(int, off64_t, off64_t, unsigned int))dlsym(RTLD_NEXT, "sync_file_range");
    real_msync = REAL(msync);
    real_syncfs = REAL(syncfs);
    real_sync = REAL(sync);
    real_write = REAL(write);
    real_pwrite = REAL(pwrite);
    real_pwrite64 = REAL(pwrite64);
    real_writev = REAL(writev);
    real_pwritev = REAL(pwritev);
    real_pwritev64 = REAL(pwritev64);
    real_pwritev2 = (ssize_t (*)(int, const struct iovec *, int, off_t, int))dlsym(RTLD_NEXT, "pwritev2");
    real_open = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    real_open64 = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
    real_openat = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
    real_openat64 = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat64");
    real_close = REAL(close);

    const char *path = getenv("SYNC_COUNT_FILE");
    if (path && *path) {
        int fd = real_open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd >= 0) {
            struct stat st;
            if (fstat(fd, &st) == 0 &&
                ((size_t)st.st_size >= sizeof(struct shared) || ftruncate(fd, sizeof(struct shared)) == 0)) {
                void *p = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
                if (p != MAP_FAILED) {
                    struct shared *s = p;
                    if (s->magic != MAGIC) {
                        s->fail_after = -1;
                        s->magic = MAGIC;
                    }
                    state = s;
                }
            }
            real_close(fd);
        }
        if (state == &fallback)
            fprintf(stderr, "syncdelay: cannot map %s: %s\n", path, strerror(errno));
    }
    const char *v = getenv("SYNC_DELAY_US");
    if (v && *v)
        state->delay_us = strtoull(v, NULL, 10);
    v = getenv("SYNC_FAIL_AFTER");
    if (v && *v)
        state->fail_after = strtoll(v, NULL, 10);
    fail_path = getenv("SYNC_FAIL_PATH");
}

static void ready(void) { pthread_once(&once, setup); }

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The delay models a slower disk: it comes after the real sync and before the caller learns of it. */
static void delay(void)
{
    uint64_t us = state->delay_us;
    if (us) {
        struct timespec t = {.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000};
        while (nanosleep(&t, &t) != 0 && errno == EINTR) {
        }
    }
}

/* True when this call must fail: the counter of good calls left has run out. */
static int must_fail(int fd)
{
    if (state->fail_after < 0)
        return 0;
    if (fail_path && *fail_path && fd >= 0) {
        char link[64], path[4096];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, path, sizeof path - 1);
        if (n < 0)
            return 0;
        path[n] = 0;
        if (!strstr(path, fail_path))
            return 0;
    }
    for (;;) {
        int64_t left = state->fail_after;
        if (left < 0)
            return 0;
        if (left == 0) {
            state->failed++;
            return 1;
        }
        if (atomic_compare_exchange_weak(&state->fail_after, &left, left - 1))
            return 0;
    }
}

#define SYNC_CALL(counter, fd, call)                                                                                   \
    ready();                                                                                                           \
    state->counter++;                                                                                                  \
    if (must_fail(fd)) {                                                                                               \
        errno = EIO;                                                                                                   \
        return -1;                                                                                                     \
    }                                                                                                                  \
    uint64_t t0 = now_ns();                                                                                            \
    int r = call;                                                                                                      \
    int saved = errno;                                                                                                 \
    state->nanoseconds += now_ns() - t0;                                                                               \
    delay();                                                                                                           \
    errno = saved;                                                                                                     \
    return r

int fsync(int fd) { SYNC_CALL(fsync_calls, fd, real_fsync(fd)); }
int fdatasync(int fd) { SYNC_CALL(fdatasync_calls, fd, real_fdatasync(fd)); }
int syncfs(int fd) { SYNC_CALL(syncfs_calls, fd, real_syncfs(fd)); }
int sync_file_range(int fd, off64_t off, off64_t n, unsigned int flags)
{
    SYNC_CALL(sync_file_range_calls, fd, real_sync_file_range(fd, off, n, flags));
}
int msync(void *p, size_t n, int flags)
{
    ready();
    if (!(flags & MS_SYNC))
        return real_msync(p, n, flags);
    SYNC_CALL(msync_calls, -1, real_msync(p, n, flags));
}
void sync(void)
{
    ready();
    state->syncfs_calls++;
    real_sync();
    delay();
}

static void note_open(int fd, int flags)
{
    if (fd >= 0 && fd < MAX_FDS)
        osync_fd[fd] = (flags & O_DSYNC) != 0; /* O_SYNC contains O_DSYNC */
}

#define OPEN_BODY(call)                                                                                                \
    ready();                                                                                                           \
    mode_t mode = 0;                                                                                                   \
    if (flags & (O_CREAT | O_TMPFILE)) {                                                                               \
        va_list ap;                                                                                                    \
        va_start(ap, flags);                                                                                           \
        mode = va_arg(ap, mode_t);                                                                                     \
        va_end(ap);                                                                                                    \
    }                                                                                                                  \
    int fd = call;                                                                                                     \
    note_open(fd, flags);                                                                                              \
    return fd

int open(const char *path, int flags, ...) { OPEN_BODY(real_open(path, flags, mode)); }
int open64(const char *path, int flags, ...) { OPEN_BODY(real_open64(path, flags, mode)); }
int openat(int dir, const char *path, int flags, ...) { OPEN_BODY(real_openat(dir, path, flags, mode)); }
int openat64(int dir, const char *path, int flags, ...) { OPEN_BODY(real_openat64(dir, path, flags, mode)); }

int close(int fd)
{
    ready();
    if (fd >= 0 && fd < MAX_FDS)
        osync_fd[fd] = 0;
    return real_close(fd);
}

static int is_osync(int fd) { return fd >= 0 && fd < MAX_FDS && osync_fd[fd]; }

#define WRITE_CALL(synced, call)                                                                                       \
    ready();                                                                                                           \
    if (!(synced))                                                                                                     \
        return call;                                                                                                   \
    state->osync_writes++;                                                                                             \
    if (must_fail(fd)) {                                                                                               \
        errno = EIO;                                                                                                   \
        return -1;                                                                                                     \
    }                                                                                                                  \
    ssize_t r = call;                                                                                                  \
    int saved = errno;                                                                                                 \
    delay();                                                                                                           \
    errno = saved;                                                                                                     \
    return r

ssize_t write(int fd, const void *b, size_t n) { WRITE_CALL(is_osync(fd), real_write(fd, b, n)); }
ssize_t pwrite(int fd, const void *b, size_t n, off_t o) { WRITE_CALL(is_osync(fd), real_pwrite(fd, b, n, o)); }
ssize_t pwrite64(int fd, const void *b, size_t n, off64_t o) { WRITE_CALL(is_osync(fd), real_pwrite64(fd, b, n, o)); }
ssize_t writev(int fd, const struct iovec *v, int n) { WRITE_CALL(is_osync(fd), real_writev(fd, v, n)); }
ssize_t pwritev(int fd, const struct iovec *v, int n, off_t o)
{
    WRITE_CALL(is_osync(fd), real_pwritev(fd, v, n, o));
}
ssize_t pwritev64(int fd, const struct iovec *v, int n, off64_t o)
{
    WRITE_CALL(is_osync(fd), real_pwritev64(fd, v, n, o));
}
#ifdef RWF_DSYNC
ssize_t pwritev2(int fd, const struct iovec *v, int n, off_t o, int flags)
{
    WRITE_CALL(is_osync(fd) || (flags & (RWF_DSYNC | RWF_SYNC)), real_pwritev2(fd, v, n, o, flags));
}
#endif

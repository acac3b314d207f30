/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A library that pretends to be XPMEM's, for machines without the kernel module.  It is preloaded, so that
 * large memory of a program comes from an arena that others can map: one memfd, at multiples of 64 MiB.
 *
 *     malloc(n), n >= FAKE_XPMEM_FROM (4096)   pages of the arena, by powers of two
 *     free                                     a hole in the memfd: others see zeros, as after a new fault
 *     xpmem_attach                             another mapping of /proc/PID/fd/N of the owner
 *
 * Like XPMEM's an attachment shows what lies at an address, now; memory that is gone is a SIGBUS.  Unlike
 * it, only the arena can be attached: not stacks, nor static data.
 *
 *     FAKE_XPMEM=no-make       the owner can share nothing
 *     FAKE_XPMEM=no-get        others may not ask (another user)
 *     FAKE_XPMEM=no-attach     nothing can be attached
 *     FAKE_XPMEM=sometimes     every second attachment is refused
 *     FAKE_XPMEM=slow          an attachment takes 2 ms
 *     FAKE_XPMEM=gone          what is attached is gone: every access is a SIGBUS
 *
 * fake_xpmem_attachments and fake_xpmem_most_attached: how many there have been in this process, and at one time.
 * fake_xpmem_die, called in a child of a process: that one dies, its arena first.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ARENA_BYTES ((size_t)32 << 30) /* of addresses; memory only where it is used */
#define ALIGNMENT   ((size_t)64 << 20)
enum { PAGE = 4096, LOG_PAGE = 12, CLASSES = 36, MOST_PERMITS = 512 };

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t n, size_t bytes);
extern void *__libc_realloc(void *at, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *at);

/* ---- the arena ---- */

struct block { /* a page before the memory */
    size_t bytes;
    int class;
    struct block *next;
};
struct header { /* the first page */
    uint64_t base;
};

static struct {
    atomic_flag lock;
    char *base, *end; /* end: used so far */
    int file;
    size_t from;
    struct block *free[CLASSES];
} arena = { .lock = ATOMIC_FLAG_INIT, .file = -1 };

static void arena_lock(void)
{
    while (atomic_flag_test_and_set_explicit(&arena.lock, memory_order_acquire))
        ;
}

static void arena_unlock(void)
{
    atomic_flag_clear_explicit(&arena.lock, memory_order_release);
}

static void give_up(const char *what)
{
    perror(what);
    _exit(99);
}

static void arena_make(void)
{
    const char *from = getenv("FAKE_XPMEM_FROM");
    arena.from = from ? strtoul(from, NULL, 0) : PAGE;
    int file = memfd_create("fake_xpmem", MFD_CLOEXEC);
    arena.file = fcntl(file, F_DUPFD_CLOEXEC, 900); /* out of the way */
    close(file);
    if (arena.file < 0 || ftruncate(arena.file, ARENA_BYTES) != 0)
        give_up("fake_xpmem: memfd");
    char *room = mmap(NULL, ARENA_BYTES + ALIGNMENT, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        give_up("fake_xpmem: mmap");
    char *base = (char *)(((uintptr_t)room + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (mmap(base, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
             arena.file, 0) == MAP_FAILED)
        give_up("fake_xpmem: mmap");
    ((struct header *)base)->base = (uintptr_t)base;
    arena.end = base + PAGE;
    arena.base = base;
}

static int is_ours(const void *at)
{
    return arena.base && (const char *)at >= arena.base &&
           (const char *)at < arena.base + ARENA_BYTES;
}

static struct block *block_of(const void *at)
{
    return (struct block *)((uintptr_t)at - PAGE);
}

/* NULL: it is not for the arena. */
static void *arena_take(size_t bytes)
{
    arena_lock();
    if (!arena.base)
        arena_make();
    if (bytes < arena.from || bytes > ARENA_BYTES / 4) {
        arena_unlock();
        return NULL;
    }
    int class = 64 - __builtin_clzll((bytes - 1) >> LOG_PAGE | 1);
    struct block *b = arena.free[class];
    if (b) {
        arena.free[class] = b->next;
    } else {
        b = (struct block *)arena.end;
        arena.end += PAGE + ((size_t)PAGE << class);
        if (arena.end > arena.base + ARENA_BYTES)
            give_up("fake_xpmem: the arena is full");
    }
    *b = (struct block){ .bytes = bytes, .class = class };
    arena_unlock();
    return (char *)b + PAGE;
}

static void arena_give(void *at)
{
    struct block *b = block_of(at);
    fallocate(arena.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (char *)at - arena.base,
              (off_t)PAGE << b->class);
    arena_lock();
    b->next = arena.free[b->class];
    arena.free[b->class] = b;
    arena_unlock();
}

/* ---- instead of the C library's ---- */

void *malloc(size_t bytes)
{
    void *at = arena_take(bytes);
    return at ? at : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t each)
{
    size_t bytes;
    void *at = __builtin_mul_overflow(n, each, &bytes) ? NULL : arena_take(bytes);
    return at ? at : __libc_calloc(n, each);
}

void free(void *at)
{
    int error = errno;
    if (is_ours(at))
        arena_give(at);
    else
        __libc_free(at);
    errno = error;
}

void *realloc(void *at, size_t bytes)
{
    if (!at)
        return malloc(bytes);
    if (!is_ours(at))
        return __libc_realloc(at, bytes);
    if (bytes == 0) {
        free(at);
        return NULL;
    }
    size_t old = block_of(at)->bytes;
    void *new = malloc(bytes);
    if (new) {
        memcpy(new, at, old < bytes ? old : bytes);
        free(at);
    }
    return new;
}

void *memalign(size_t alignment, size_t bytes)
{
    void *at = alignment <= PAGE ? arena_take(bytes) : NULL;
    return at ? at : __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

int posix_memalign(void **at, size_t alignment, size_t bytes)
{
    *at = memalign(alignment, bytes);
    return *at ? 0 : ENOMEM;
}

size_t malloc_usable_size(void *at)
{
    return at && is_ours(at) ? block_of(at)->bytes : at ? ((size_t *)at)[-1] / 16 * 16 - 8 : 0;
}

/* ---- XPMEM's ---- */

struct xpmem_addr {
    int64_t apid;
    off_t offset;
};

static struct permit {
    int file; /* of the owner; 0: free */
    uint64_t base;
} permits[MOST_PERMITS];

static int mode_is(const char *mode)
{
    const char *now = getenv("FAKE_XPMEM");
    return now && strcmp(now, mode) == 0;
}

static int64_t refuse(int error)
{
    errno = error;
    return -1;
}

int xpmem_version(void)
{
    return 0x26005;
}

/* A name: the process, and the file. */
int64_t xpmem_make(void *at, size_t bytes, int type, void *mode)
{
    if (at || bytes != SIZE_MAX || type != 1 || mode != (void *)0600)
        return refuse(EINVAL);
    return mode_is("no-make") ? refuse(ENOMEM) : (int64_t)arena.file << 32 | getpid();
}

int xpmem_remove(int64_t segment)
{
    return segment > 0 ? 0 : (int)refuse(EINVAL);
}

int64_t xpmem_get(int64_t segment, int flags, int type, void *mode)
{
    char path[64];
    if (segment <= 0 || flags != 2 || type != 1 || mode)
        return refuse(EINVAL);
    if (mode_is("no-get"))
        return refuse(EACCES);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)(segment & 0x7fffffff),
             (int)(segment >> 32));
    int n = 0, file = open(path, O_RDWR | O_CLOEXEC);
    while (n < MOST_PERMITS && permits[n].file)
        n++;
    struct header header;
    if (file < 0 || n == MOST_PERMITS ||
        pread(file, &header, sizeof header, 0) != sizeof header)
        return file < 0 ? -1 : refuse(ENOMEM);
    permits[n] = (struct permit){ file, header.base };
    return n + 1;
}

int xpmem_release(int64_t permit)
{
    if (permit < 1 || permit > MOST_PERMITS || !permits[permit - 1].file)
        return (int)refuse(EINVAL);
    close(permits[permit - 1].file);
    permits[permit - 1].file = 0;
    return 0;
}

static size_t attached[1 << 16]; /* bytes, by a hash of the address */

static size_t *attached_at(const void *at)
{
    size_t i = (uintptr_t)at >> LOG_PAGE;
    return &attached[(i ^ i >> 12 ^ i >> 24) & 0xffff];
}

unsigned fake_xpmem_attachments, fake_xpmem_most_attached;
static unsigned now_attached;

static void attachment_count(void)
{
    fake_xpmem_attachments++;
    if (++now_attached > fake_xpmem_most_attached)
        fake_xpmem_most_attached = now_attached;
}

void *xpmem_attach(struct xpmem_addr addr, size_t bytes, void *at)
{
    static unsigned calls;
    if (addr.apid < 1 || addr.apid > MOST_PERMITS || at || addr.offset % PAGE)
        return (void *)refuse(EINVAL);
    const struct permit *p = &permits[addr.apid - 1];
    if (mode_is("no-attach") || (mode_is("sometimes") && ++calls % 2 == 0))
        return (void *)refuse(ENOMEM);
    if (mode_is("slow"))
        usleep(2000);
    if (mode_is("gone")) { /* a file without bytes */
        int file = memfd_create("gone", MFD_CLOEXEC);
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
    } else {
        uint64_t from = (uint64_t)addr.offset;
        if (from < p->base || from + bytes > p->base + ARENA_BYTES)
            return (void *)refuse(EFAULT);
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->file,
                  (off_t)(from - p->base));
    }
    if (at != MAP_FAILED) {
        madvise(at, bytes, MADV_DONTFORK);
        *attached_at(at) = bytes;
        attachment_count();
    }
    return at;
}

int xpmem_detach(void *at)
{
    now_attached--;
    return munmap(at, *attached_at(at));
}

/* Of the parent of this process, which shares its arena: it stops, its memory is gone, and it is dead. */
void fake_xpmem_die(void)
{
    pid_t owner = getppid();
    kill(owner, SIGSTOP);
    usleep(1000);
    if (ftruncate(arena.file, 0) != 0)
        perror("fake_xpmem_die");
    usleep(100000);
    kill(owner, SIGKILL);
    _exit(0);
}

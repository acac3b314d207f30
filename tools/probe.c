/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Trying what this machine allows.
 *
 * Reading another rank's memory is tried the way ranks would do it: between two children of one
 * parent, because the kernel (Yama) may let a parent read its child and a sibling not.
 */
#define _GNU_SOURCE 1 /* memfd_create, process_vm_readv, dladdr */
#include "tools/probe.h"

#include "runtime/mapped.h"
#include "runtime/param.h"
#include "runtime/system_text.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- shared memory ---- */

bool probe_shared_memory(char why[PROBE_CHARS])
{
    enum { BYTES = 1 << 16 };
    int fd = memfd_create("xmpi-probe", MFD_CLOEXEC);
    if (fd < 0) {
        snprintf(why, PROBE_CHARS, "memfd_create: %s", strerror(errno));
        return false;
    }
    void *at = MAP_FAILED;
    if (ftruncate(fd, BYTES) == 0)
        at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    bool works = at != MAP_FAILED;
    if (works) {
        *(volatile char *)at = 1;
        munmap(at, BYTES);
    } else {
        snprintf(why, PROBE_CHARS, "mapping a shared file: %s", strerror(errno));
    }
    close(fd);
    return works;
}

/* ---- the memory of others ---- */

static const volatile uint32_t mark = 0x786d7069;

/* In a child: read the sibling's `mark`; the exit code is 0 or errno. */
static int read_sibling(pid_t sibling)
{
    uint32_t got = 0;
    struct iovec local = { &got, sizeof got }, remote = { (void *)&mark, sizeof mark };
    ssize_t n = process_vm_readv(sibling, &local, 1, &remote, 1, 0);
    if (n < 0)
        return errno < 255 ? errno : 255;
    return n == sizeof got && got == mark ? 0 : EIO;
}

static int exit_code(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return EIO;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

/* 0, or why a child of ours cannot read another one's memory (errno). */
static int try_siblings(void)
{
    int gate[2], code = EAGAIN; /* the first child lives until the gate is closed */
    if (pipe(gate))
        return errno;
    pid_t quiet = fork();
    if (quiet == 0) {
        char end;
        close(gate[1]);
        _exit(read(gate[0], &end, 1) != 0);
    }
    close(gate[0]);
    pid_t reader = quiet > 0 ? fork() : -1;
    if (reader == 0)
        _exit(read_sibling(quiet));
    if (reader > 0)
        code = exit_code(reader);
    close(gate[1]);
    if (quiet > 0)
        exit_code(quiet);
    return code;
}

static int yama_scope(void)
{
    char text[16];
    system_text("/proc/sys/kernel/yama/ptrace_scope", text, sizeof text);
    return atoi(text);
}

bool probe_cross_memory(char why[PROBE_CHARS])
{
    int error = try_siblings(), scope = yama_scope();
    if (error == EPERM && scope > 0)
        snprintf(why, PROBE_CHARS,
                 "process_vm_readv: %s; kernel.yama.ptrace_scope is %d, which forbids it",
                 strerror(error), scope);
    else if (error == EPERM)
        snprintf(why, PROBE_CHARS, "process_vm_readv: %s (a container without CAP_SYS_PTRACE?)",
                 strerror(error));
    else if (error)
        snprintf(why, PROBE_CHARS, "process_vm_readv: %s", strerror(error));
    return error == 0;
}

/* Pages of their own, like the buffers of programs. */
bool probe_mapped_memory(char why[PROBE_CHARS])
{
    const char *reason = "no memory is left";
    uint64_t *pages = calloc(1 << 16, 1), seen = 0;
    params_read();
    int64_t name = pages ? mapped_share(&reason) : 0;
    struct mapped *memory = name ? mapped_get(name, &reason) : NULL;
    if (pages)
        *pages = 42;
    bool read =
        memory && mapped_read(memory, &seen, (uintptr_t)pages, sizeof seen) == sizeof seen;
    bool good = read && seen == 42;
    if (memory && !good)
        reason =
            read ? "the memory that is mapped is not the right one" : "no memory is attached";
    snprintf(why, PROBE_CHARS, "%s", good ? "" : reason);
    mapped_close();
    free(pages);
    return good;
}

/* ---- libraries ---- */

/* A function of a library, or NULL and why. */
static void *library_function(const char *library, const char *package, const char *name,
                              char text[PROBE_CHARS])
{
    void *opened = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    void *function = opened ? dlsym(opened, name) : NULL;
    if (!function)
        snprintf(text, PROBE_CHARS, "not found: %s (Debian: %s)", library, package);
    return function;
}

static void tell_version(char text[PROBE_CHARS], const char *version, void *function)
{
    Dl_info where;
    bool known = dladdr(function, &where) && where.dli_fname;
    snprintf(text, PROBE_CHARS, "%s, %s", version, known ? where.dli_fname : "");
}

bool probe_pmix(char text[PROBE_CHARS])
{
    const char *(*version)(void);
    void *function = library_function("libpmix.so.2", "libpmix2", "PMIx_Get_version", text);
    if (!function)
        return false;
    memcpy(&version, &function, sizeof version);
    char words[64]; /* "OpenPMIx 4.2.2 (PMIx Standard: 4.1, ...)" */
    size_t length = strcspn(version(), "(,");
    while (length > 0 && version()[length - 1] == ' ')
        length--;
    snprintf(words, sizeof words, "%.*s", (int)length, version());
    tell_version(text, words, function);
    return true;
}

bool probe_hwloc(char text[PROBE_CHARS])
{
    unsigned (*version)(void);
    void *function =
        library_function("libhwloc.so.15", "libhwloc15", "hwloc_get_api_version", text);
    if (!function)
        return false;
    memcpy(&version, &function, sizeof version);
    unsigned v = version();
    char words[32];
    snprintf(words, sizeof words, "API %u.%u.%u", v >> 16, v >> 8 & 255, v & 255);
    tell_version(text, words, function);
    return true;
}

bool probe_libfabric(char text[PROBE_CHARS])
{
    uint32_t (*version)(void);
    void *function = library_function("libfabric.so.1", "libfabric1", "fi_version", text);
    if (!function)
        return false;
    memcpy(&version, &function, sizeof version);
    char words[32];
    snprintf(words, sizeof words, "%u.%u", version() >> 16, version() & 0xffff);
    tell_version(text, words, function);
    return true;
}

/* ---- CPUs ---- */

void probe_cpus(char *text, size_t room)
{
    enum { MOST = 8192 };
    cpu_set_t *mask = CPU_ALLOC(MOST);
    size_t bytes = CPU_ALLOC_SIZE(MOST), used = 0;
    *text = '\0';
    if (!mask)
        return;
    CPU_ZERO_S(bytes, mask);
    int known = sched_getaffinity(0, bytes, mask);
    for (int cpu = 0, last; known == 0 && cpu < MOST; cpu = last + 1) {
        last = cpu;
        if (!CPU_ISSET_S(cpu, bytes, mask))
            continue;
        while (last + 1 < MOST && CPU_ISSET_S(last + 1, bytes, mask))
            last++;
        if (used < room)
            used += (size_t)snprintf(text + used, room - used, last > cpu ? "%s%d-%d" : "%s%d",
                                     used ? "," : "", cpu, last);
    }
    CPU_FREE(mask);
}

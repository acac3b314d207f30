/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef XMPI_CLOCK_H
#define XMPI_CLOCK_H

#include <stdint.h>
#include <string.h>
#include <time.h>

/* Monotonic time in nanoseconds (vDSO, ~20 ns). */
static inline uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Processor time of this thread in nanoseconds (a system call). */
static inline uint64_t clock_thread_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A fast clock of unknown rate, for comparing times on one machine. */
static inline uint64_t cpu_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return clock_ns();
#endif
}

static inline void cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield" ::: "memory");
#endif
}

/* Bring the line at this address into this processor's cache, to be written soon.  A hint. */
static inline void cpu_want(const void *address)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0"
                     :
                     : "m"(*(const char *)address)); /* the builtin asks to read */
#else
    __builtin_prefetch(address, 1, 3);
#endif
}

/* memcpy to lines that another processor has: does not ask for what it overwrites.  Slow to begin. */
static inline void cpu_copy(void *to, const void *from, size_t bytes)
{
#if defined(__x86_64__)
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
#else
    memcpy(to, from, bytes);
#endif
}

/* Give the line at this address to the cache that all processors share, where the next one finds it
 * sooner.  A hint; processors that do not know it do nothing. */
static inline void cpu_give(const void *address)
{
#if defined(__x86_64__)
    __asm__ volatile(".byte 0x0f, 0x1c, 0x07"
                     :
                     : "D"(address)
                     : "memory"); /* cldemote (%rdi) */
#else
    (void)address;
#endif
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE 1 /* memfd_create */
#include "runtime/bootseg.h"

#include "test/unit/unit.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char psets[] = "ocean\t0:2:1\n";

static struct boot_header *segment_new(int nlocal, int size)
{
    void *memory = mmap(NULL, bootseg_bytes(nlocal, size, psets), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(memory, MAP_FAILED);
    bootseg_format(memory, "job-1", nlocal, size, psets);
    return memory;
}

START_TEST(parts_do_not_overlap)
{
    const int shapes[][2] = { { 1, 1 },   { 2, 2 },     { 3, 7 },
                              { 64, 64 }, { 64, 4096 }, { 200, 300 } };
    for (int i = 0; i < 6; i++) {
        int n = shapes[i][0], size = shapes[i][1];
        struct boot_header *s = segment_new(n, size);
        char *start = (char *)s;
        ck_assert_ptr_null(bootseg_check(s, s->bytes, "job-1"));
        ck_assert_uint_ge(s->ranks_offset, sizeof *s);
        ck_assert_uint_ge(s->nodes_offset,
                          s->ranks_offset + (size_t)n * sizeof(struct boot_rank));
        ck_assert(bootseg_psets(s) >= start + s->nodes_offset + (size_t)size * 4);
        ck_assert_str_eq(bootseg_psets(s), psets);
        ck_assert(bootseg_area(s, 0) >= bootseg_psets(s) + sizeof psets);
        ck_assert_uint_ge(s->area_bytes, BOOT_POOL_BYTES + (size_t)n * bootseg_pair_bytes(n));
        ck_assert(bootseg_area(s, n - 1) + s->area_bytes <= start + s->bytes);
        for (int r = 0; r < n; r++) {
            ck_assert_uint_eq((uintptr_t)bootseg_rank(s, r) % 64, 0);
            ck_assert_uint_eq((uintptr_t)bootseg_area(s, r) % 4096, 0);
            ck_assert_int_eq(bootseg_rank(s, r)->world_rank, r);
            ck_assert_int_eq(bootseg_rank(s, r)->pid, 0);
            ck_assert_int_eq(bootseg_rank(s, r)->place.core, -1);
        }
        munmap(s, s->bytes);
    }
}
END_TEST

START_TEST(wrong_segments_are_refused_with_a_reason)
{
    struct boot_header *s = segment_new(2, 4);
    size_t bytes = s->bytes;
    struct boot_header good = *s;
    ck_assert_str_eq(bootseg_check(s, 16, "job-1"), "not a boot segment");
    ck_assert_ptr_nonnull(strstr(bootseg_check(s, bytes - 4096, "job-1"), "damaged"));
    ck_assert_ptr_nonnull(strstr(bootseg_check(s, bytes, "job-2"), "another job (job-1)"));
    ck_assert_ptr_null(bootseg_check(s, bytes, NULL));
    s->version = 99;
    ck_assert_ptr_nonnull(strstr(bootseg_check(s, bytes, "job-1"), "version 99"));
    *s = good, s->magic = 0;
    ck_assert_str_eq(bootseg_check(s, bytes, "job-1"), "not a boot segment");
    *s = good, s->area_bytes += 4096;
    ck_assert_ptr_nonnull(strstr(bootseg_check(s, bytes, "job-1"), "damaged"));
    *s = good, s->nlocal = -1;
    ck_assert_ptr_nonnull(strstr(bootseg_check(s, bytes, "job-1"), "damaged"));
    *s = good, s->nlocal = 5;
    ck_assert_ptr_nonnull(strstr(bootseg_check(s, bytes, "job-1"), "damaged"));
    *s = good;
    ck_assert_ptr_null(bootseg_check(s, bytes, "job-1"));
}
END_TEST

START_TEST(long_job_names_are_cut_and_still_match_nothing_else)
{
    char job[100];
    memset(job, 'j', sizeof job);
    job[99] = '\0';
    struct boot_header *s = segment_new(1, 1);
    bootseg_format(s, job, 1, 1, NULL);
    ck_assert_uint_eq(strlen(s->job), BOOT_JOB_CHARS - 1);
    ck_assert_ptr_null(bootseg_check(s, s->bytes, s->job));
    ck_assert_ptr_null(bootseg_check(s, s->bytes, job));
}
END_TEST

/* As a launcher of others calls them on a host with a long name. */
START_TEST(long_job_names_that_differ_at_the_end_differ)
{
    static const char one[] = "prterun-ip-172-31-24-105.us-west-2.compute.internal-12345@1",
                      other[] = "prterun-ip-172-31-24-105.us-west-2.compute.internal-12399@1";
    struct boot_header *s = segment_new(1, 1), *t = segment_new(1, 1);
    bootseg_format(s, one, 1, 1, NULL);
    bootseg_format(t, other, 1, 1, NULL);
    ck_assert_str_ne(s->job, t->job);
    ck_assert_ptr_null(bootseg_check(s, s->bytes, one));
    ck_assert_ptr_nonnull(bootseg_check(s, s->bytes, other));
}
END_TEST

/* Formatting touches header, records and no area: 64 ranks ask for tens of megabytes. */
START_TEST(a_formatted_segment_is_sparse)
{
    int fd = memfd_create("test", 0);
    size_t bytes = bootseg_bytes(64, 64, NULL);
    ck_assert_int_eq(ftruncate(fd, (off_t)bytes), 0);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    bootseg_format(memory, "job", 64, 64, NULL);
    struct stat file;
    fstat(fd, &file);
    ck_assert_uint_gt(bytes, 64u << 20);
    ck_assert_int_lt(file.st_blocks * 512, 256 << 10);
}
END_TEST

UNIT_MAIN("bootseg", parts_do_not_overlap, wrong_segments_are_refused_with_a_reason,
          long_job_names_are_cut_and_still_match_nothing_else,
          long_job_names_that_differ_at_the_end_differ, a_formatted_segment_is_sparse)

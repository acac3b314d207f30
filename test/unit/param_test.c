/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The environment is read once per process; Check runs every test in a process of its own.
 */
#define _GNU_SOURCE 1 /* memfd_create */
#include "runtime/log.h"
#include "runtime/param.h"
#include "runtime/param_text.h"
#include "runtime/typo.h"

#include "test/unit/unit.h"

#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What params_read says on stderr. */
static const char *complaints(void)
{
    static char text[4096];
    int kept = dup(2), file = memfd_create("stderr", 0);
    dup2(file, 2);
    params_read();
    dup2(kept, 2);
    ssize_t n = pread(file, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    close(kept);
    close(file);
    return text;
}

static int lines(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

START_TEST(defaults_are_readable)
{
    ck_assert_str_eq(complaints(), "");
    ck_assert_int_eq(param_number(SPIN), 2000);
    ck_assert_int_eq(param_number(TINY), 1);
    ck_assert_str_eq(param_string(POLITE), "auto");
    ck_assert_ptr_null(param_string(COLL));
    for (int i = 0; i < PARAM_COUNT; i++) {
        ck_assert(!params[i].is_set);
        ck_assert_uint_gt(strlen(params[i].help), 10);
    }
}
END_TEST

START_TEST(nothing_is_written_from_outside_under_valgrind)
{
    setenv("LD_PRELOAD", "/usr/libexec/valgrind/vgpreload_core-amd64-linux.so:x.so", 1);
    ck_assert_str_eq(complaints(), "");
    ck_assert_str_eq(param_string(SHM_SINGLE_COPY), "none");
    ck_assert_str_eq(params[PARAM_ID_SHM_SINGLE_COPY].from, "Valgrind");
}
END_TEST

START_TEST(the_environment_has_the_last_word_under_valgrind)
{
    setenv("LD_PRELOAD", "/usr/libexec/valgrind/vgpreload_core-amd64-linux.so", 1);
    setenv("XMPI_SHM_SINGLE_COPY", "cma", 1);
    ck_assert_str_eq(complaints(), "");
    ck_assert_str_eq(param_string(SHM_SINGLE_COPY), "cma");
}
END_TEST

START_TEST(values_come_from_the_environment)
{
    setenv("XMPI_SPIN", "17", 1);
    setenv("XMPI_EAGER", "256k", 1);
    setenv("XMPI_TINY", "off", 1);
    setenv("XMPI_COLL", "allreduce=ring", 1);
    ck_assert_str_eq(complaints(), "");
    ck_assert_int_eq(param_number(SPIN), 17);
    ck_assert_int_eq(param_number(EAGER), 256 << 10);
    ck_assert_int_eq(param_number(TINY), 0);
    ck_assert_str_eq(param_string(COLL), "allreduce=ring");
    ck_assert(params[PARAM_ID_EAGER].is_set && !params[PARAM_ID_LOG].is_set);
}
END_TEST

START_TEST(read_once)
{
    params_read();
    setenv("XMPI_SPIN", "17", 1);
    params_read();
    ck_assert_int_eq(param_number(SPIN), 2000);
}
END_TEST

static long long eager_of(const char *text)
{
    setenv("XMPI_EAGER", text, 1);
    params_read();
    return param_number(EAGER);
}

#define SIZE_TEST(name, text, bytes)                                                           \
    START_TEST(name)                                                                           \
    {                                                                                          \
        ck_assert_int_eq(eager_of(text), bytes);                                               \
    }                                                                                          \
    END_TEST
SIZE_TEST(size_plain, "4096", 4096)
SIZE_TEST(size_zero, "0", 0)
SIZE_TEST(size_bytes, "100B", 100)
SIZE_TEST(size_kilo, "8K", 8192)
SIZE_TEST(size_kilobytes, "8kb", 8192)
SIZE_TEST(size_mebibytes, "3MiB", 3 << 20)
SIZE_TEST(size_giga, "2g", 2ll << 30)
SIZE_TEST(size_negative, "-1", 65536)
SIZE_TEST(size_words, "lots", 65536)
SIZE_TEST(size_empty, "", 65536)
SIZE_TEST(size_trailing, "64kx", 65536)
SIZE_TEST(size_ib_alone, "64ib", 65536)
SIZE_TEST(size_too_big, "9999999999g", 65536)

START_TEST(bad_values_are_named_and_replaced)
{
    setenv("XMPI_SPIN", "often", 1);
    setenv("XMPI_TINY", "maybe", 1);
    const char *said = complaints();
    ck_assert_int_eq(lines(said), 2);
    ck_assert_ptr_nonnull(strstr(said, "XMPI_SPIN=often is not a whole number"));
    ck_assert_ptr_nonnull(strstr(said, "2000"));
    ck_assert_ptr_nonnull(strstr(said, "XMPI_TINY=maybe"));
    ck_assert_int_eq(param_number(SPIN), 2000);
    ck_assert(!params[PARAM_ID_SPIN].is_set && !params[PARAM_ID_TINY].is_set);
}
END_TEST

START_TEST(no_number_is_below_zero)
{
    setenv("XMPI_SPIN", "-5", 1);
    setenv("XMPI_OFI_TIMEOUT", "-5", 1);
    const char *said = complaints();
    ck_assert_ptr_nonnull(strstr(said, "XMPI_SPIN=-5 is not a whole number from 0 on"));
    ck_assert_ptr_nonnull(
        strstr(said, "XMPI_OFI_TIMEOUT=-5 is not a number of seconds from 1"));
    ck_assert_int_eq(param_number(SPIN), 2000);
    ck_assert_int_eq(param_number(OFI_TIMEOUT), 30);
}
END_TEST

START_TEST(some_numbers_have_bounds)
{
    setenv("XMPI_ENGINES", "9", 1);
    setenv("XMPI_OFI_TIMEOUT", "0", 1);
    setenv("XMPI_STORE_PORT", "70000", 1);
    setenv("XMPI_STORE_TIMEOUT", "4294967297", 1);
    const char *said = complaints();
    ck_assert_int_eq(lines(said), 4);
    ck_assert_ptr_nonnull(strstr(said, "XMPI_STORE_PORT=70000 is not a port from 0 to 65535"));
    ck_assert_ptr_nonnull(strstr(said, "XMPI_STORE_TIMEOUT=4294967297 is not a number"));
    ck_assert_int_eq(param_number(STORE_PORT), 0);
    ck_assert_int_eq(param_number(STORE_TIMEOUT), 300);
    ck_assert_ptr_nonnull(strstr(said, "XMPI_ENGINES=9 is not a whole number from 0 to 4"));
    ck_assert_ptr_nonnull(strstr(said, "XMPI_OFI_TIMEOUT=0 is not a number of seconds from 1"));
    ck_assert_int_eq(param_number(ENGINES), 0);
    ck_assert_int_eq(param_number(OFI_TIMEOUT), 30);
}
END_TEST

START_TEST(numbers_have_an_end)
{
    setenv("XMPI_SPIN", "99999999999999", 1);
    setenv("XMPI_CUDA_HANDLES", "2147483648", 1);
    setenv("XMPI_CUDA_PACK", "2147483647", 1);
    const char *said = complaints();
    ck_assert_int_eq(lines(said), 2);
    ck_assert_ptr_nonnull(strstr(said, "XMPI_SPIN=99999999999999 is not a whole number"));
    ck_assert_ptr_nonnull(strstr(said, "XMPI_CUDA_HANDLES=2147483648 is not a whole number"));
    ck_assert_int_eq(param_number(SPIN), 2000);
    ck_assert_int_eq(param_number(CUDA_HANDLES), 64);
    ck_assert_int_eq(param_number(CUDA_PACK), INT_MAX);
}
END_TEST

START_TEST(texts_that_are_wrong_are_named_and_replaced)
{
    setenv("XMPI_POLITE", "maybe", 1);
    setenv("XMPI_CROWDED", "3", 1);
    setenv("XMPI_SHM_SINGLE_COPY", "cm", 1);
    setenv("XMPI_INITIAL_ERRHANDLER", "MPI_ERRORS_RETURN", 1);
    setenv("XMPI_MEMORY_ALLOC_KINDS", "zz::", 1);
    setenv("XMPI_GPU", "foo", 1);
    setenv("XMPI_LIBXPMEM", "/no/such/library", 1);
    const char *said = complaints();
    ck_assert_int_eq(lines(said), 7);
    ck_assert_ptr_nonnull(strstr(said, "XMPI_POLITE=maybe is none of auto, always, never; "
                                       "using the default, auto\n"));
    ck_assert_ptr_nonnull(strstr(said, "XMPI_CROWDED=3 is none of auto, yes, no;"));
    ck_assert_ptr_nonnull(strstr(said, "XMPI_SHM_SINGLE_COPY=cm is none of auto, cma, "));
    ck_assert_ptr_nonnull(strstr(said, "XMPI_INITIAL_ERRHANDLER=MPI_ERRORS_RETURN is none of"));
    ck_assert_ptr_nonnull(strstr(said, "XMPI_MEMORY_ALLOC_KINDS=zz:: is not a list of kinds"));
    ck_assert_ptr_nonnull(strstr(said, "XMPI_GPU=foo is not a place on PCI such as "
                                       "0000:1b:00.0; going on as if it were not set\n"));
    ck_assert_ptr_nonnull(strstr(said, "XMPI_LIBXPMEM=/no/such/library is not a library"));
    ck_assert_str_eq(param_string(POLITE), "auto");
    ck_assert_str_eq(param_string(SHM_SINGLE_COPY), "auto");
    ck_assert_ptr_null(param_string(GPU));
    ck_assert_str_eq(param_string(LIBXPMEM),
                     "/no/such/library"); /* nor is another one opened */
}
END_TEST

static const char *wrong_text(enum param_id id, const char *text)
{
    const char *then;
    return param_text_wrong(id, text, &then);
}

START_TEST(texts_that_are_right_are_left_alone)
{
    static const char *const places[] = { "0000:1b:00.0", "00000000:1B:00.0", "1b:00.0",
                                          "0:1b:0" };
    static const char *const kinds[] = { "mpi,system,cuda:device", "rocm", "cuda:device:host",
                                         "mpi, system", "mpi,,system," };
    static const char *const wrong[] = { ":",         "mpi,:device", "cuda:",
                                         "cuda:,mpi", ":cuda",       "cuda::device" };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        ck_assert_msg(!wrong_text(PARAM_ID_GPU, places[i]), "%s", places[i]);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        ck_assert_msg(!wrong_text(PARAM_ID_MEMORY_ALLOC_KINDS, kinds[i]), "%s", kinds[i]);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ck_assert_msg(wrong_text(PARAM_ID_MEMORY_ALLOC_KINDS, wrong[i]) != NULL, "%s",
                      wrong[i]);
    ck_assert_ptr_nonnull(wrong_text(PARAM_ID_GPU, "0000:1b:00.0x"));
    ck_assert_ptr_null(wrong_text(PARAM_ID_POLITE, ""));
    ck_assert_ptr_null(wrong_text(PARAM_ID_LIBXPMEM, "libxpmem.so.0"));
    ck_assert_ptr_null(wrong_text(PARAM_ID_COLL, "whatever"));
}
END_TEST

START_TEST(one_process_of_a_node_tells)
{
    ck_assert(param_tells_here());
    setenv("XMPI_BOOT", "1:2:x:0", 1);
    setenv("LOCAL_RANK", "0", 1);
    log_rank(7);
    ck_assert(param_tells_here());
    setenv("LOCAL_RANK", "1", 1);
    log_rank(0);
    ck_assert(!param_tells_here());
    unsetenv("LOCAL_RANK");
    ck_assert(param_tells_here());
}
END_TEST

START_TEST(near_misses_are_pointed_out)
{
    setenv("XMPI_EXPLIAN", "all", 1);
    setenv("XMPI_SPINS", "5", 1);
    const char *said = complaints();
    ck_assert_int_eq(lines(said), 2);
    ck_assert_ptr_nonnull(strstr(said, "did you mean XMPI_EXPLAIN?"));
    ck_assert_ptr_nonnull(strstr(said, "did you mean XMPI_SPIN?"));
}
END_TEST

START_TEST(other_names_are_left_alone)
{
    setenv("XMPI_BOOT", "1:2:x:0", 1);
    setenv("XMPI_CC", "gcc", 1);
    setenv("XMPI_HOME", "/opt", 1);
    setenv("XMPI_SOMETHING_ELSE_ALTOGETHER_AND_VERY_LONG_INDEED", "1", 1);
    setenv("XMPI_", "1", 1);
    ck_assert_str_eq(complaints(), "");
}
END_TEST

START_TEST(only_the_first_rank_complains)
{
    log_rank(3);
    setenv("XMPI_SPIN", "often", 1);
    setenv("XMPI_SPINS", "5", 1);
    ck_assert_str_eq(complaints(), "");
    ck_assert_int_eq(param_number(SPIN), 2000);
}
END_TEST

START_TEST(typos_are_counted)
{
    ck_assert_int_eq(typo_distance("allreduce", 9, "allreduce"), 0);
    ck_assert_int_eq(typo_distance("allredce", 8, "allreduce"), 1); /* dropped */
    ck_assert_int_eq(typo_distance("bcats", 5, "bcast"), 1);        /* swapped */
    ck_assert_int_eq(typo_distance("scam=1", 4, "scan"), 1);        /* the first four */
    ck_assert_int_eq(typo_distance("", 0, "scan"), 4);
}
END_TEST

UNIT_MAIN("param", defaults_are_readable, nothing_is_written_from_outside_under_valgrind,
          the_environment_has_the_last_word_under_valgrind, values_come_from_the_environment,
          read_once, size_plain, size_zero, size_bytes, size_kilo, size_kilobytes,
          size_mebibytes, size_giga, size_negative, size_words, size_empty, size_trailing,
          size_ib_alone, size_too_big, bad_values_are_named_and_replaced,
          no_number_is_below_zero, some_numbers_have_bounds, numbers_have_an_end,
          texts_that_are_wrong_are_named_and_replaced, texts_that_are_right_are_left_alone,
          one_process_of_a_node_tells, near_misses_are_pointed_out, other_names_are_left_alone,
          only_the_first_rank_complains, typos_are_counted)

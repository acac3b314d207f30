/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Booting, with the test in the part of the launcher.  Check gives every test its own process.
 */
#define _GNU_SOURCE 1 /* memfd_create */
#include "runtime/boot.h"
#include "runtime/fail.h"

#include "test/unit/unit.h"

#include "mpi.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct boot_header *segment;
static int segment_fd;

/* What xmpirun does: a segment for n ranks in an inherited file. */
static void launch(int n)
{
    size_t bytes = bootseg_bytes(n, n, NULL);
    segment_fd = memfd_create("test", 0);
    ck_assert_int_eq(ftruncate(segment_fd, (off_t)bytes), 0);
    segment = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, segment_fd, 0);
    bootseg_format(segment, "job-7", n, n, NULL);
    segment->crowded = 1;
}

static void set_boot(int pid, int fd, const char *job, int rank)
{
    char text[128];
    snprintf(text, sizeof text, "%d:%d:%s:%d", pid, fd, job, rank);
    setenv(BOOT_ENV, text, 1);
}

/* Run `child` in a process of its own; its exit code. */
static int in_child(void (*child)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        child();
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* Every failure names what was tried. */
static void check_refused(const char *words)
{
    ck_assert_int_eq(boot_open(), MPI_ERR_OTHER);
    ck_assert_msg(strstr(fail_text(), words) != NULL, "%s", fail_text());
}

START_TEST(alone_without_a_launcher)
{
    ck_assert_int_eq(boot_open(), MPI_SUCCESS);
    ck_assert_str_eq(boot.how, "singleton");
    ck_assert_int_eq(boot.rank, 0);
    ck_assert_int_eq(boot.size, 1);
    ck_assert_int_eq(boot.appnum, -1);
    ck_assert(!boot.crowded);
    ck_assert_int_eq(boot_local(0), 0);
    ck_assert_int_eq(boot_local(1), -1);
    ck_assert_int_eq(*boot_area(0), 0);
    boot_close();
    ck_assert_int_eq(boot_open(), MPI_SUCCESS);
    boot_close();
}
END_TEST

static void be_rank_2(void)
{
    set_boot(getppid(), segment_fd, "job-7", 2);
    ck_assert_int_eq(boot_open(), MPI_SUCCESS);
    ck_assert_int_eq(boot.rank, 2);
    ck_assert_int_eq(boot.size, 4);
    ck_assert_int_eq(boot.local_rank, 2);
    ck_assert(boot.crowded);
    ck_assert_int_eq(boot_local(3), 3);
    ck_assert_int_eq(boot_local(4), -1);
    boot_reached(BOOT_INITED);
    boot_area(2)[5] = 'x';
    boot_reached(BOOT_FINALIZED);
    boot_close();
    ck_assert_int_eq(boot_open(), MPI_SUCCESS); /* the same process may come again */
    boot_reached(BOOT_INITED);
    ck_assert_int_eq(boot_record(2)->state, BOOT_INITED);
    boot_reached(BOOT_FINALIZED);
    boot_close();
}

START_TEST(a_rank_under_the_launcher)
{
    launch(4);
    ck_assert_int_eq(in_child(be_rank_2), 0);
    ck_assert_int_ne(bootseg_rank(segment, 2)->pid, 0);
    ck_assert_int_eq(bootseg_rank(segment, 1)->pid, 0);
    ck_assert_int_eq(bootseg_rank(segment, 2)->state, BOOT_FINALIZED);
    ck_assert_int_eq(bootseg_area(segment, 2)[5], 'x');
}
END_TEST

static void lose_the_file_and_boot(void)
{
    int fd = segment_fd;
    close(fd);
    be_rank_2();
}

static void have_another_file_and_boot(void)
{
    dup2(open("/dev/zero", O_RDWR), segment_fd);
    be_rank_2();
}

static void have_another_segment_and_boot(void)
{
    int mine = segment_fd;
    launch(4);
    strcpy(segment->job, "job-8");
    dup2(segment_fd, mine);
    segment_fd = mine;
    be_rank_2();
}

START_TEST(a_wrapper_may_close_the_file)
{
    launch(4);
    ck_assert_int_eq(in_child(lose_the_file_and_boot), 0);
    ck_assert_int_eq(bootseg_rank(segment, 2)->state, BOOT_FINALIZED);
}
END_TEST

START_TEST(the_number_may_mean_another_file)
{
    launch(4);
    ck_assert_int_eq(in_child(have_another_file_and_boot), 0);
    ck_assert_int_eq(bootseg_rank(segment, 2)->state, BOOT_FINALIZED);
}
END_TEST

START_TEST(the_number_may_mean_the_segment_of_another_job)
{
    launch(4);
    ck_assert_int_eq(in_child(have_another_segment_and_boot), 0);
    ck_assert_int_eq(bootseg_rank(segment, 2)->state, BOOT_FINALIZED);
}
END_TEST

START_TEST(what_cannot_be_joined_is_refused)
{
    launch(4);
    set_boot(getpid(), segment_fd, "job-6", 0);
    check_refused("another job (job-7)");
    set_boot(getpid(), 999, "job-7", 0);
    check_refused("Bad file descriptor");
    set_boot(getpid(), segment_fd, "job-7", 4);
    check_refused("names local rank 4, but the job has 4 here");
    setenv(BOOT_ENV, "hello", 1);
    check_refused("XMPI_BOOT=hello");
    setenv(BOOT_ENV, "1:2:job:3x", 1);
    check_refused("XMPI_BOOT=");
    segment->version = 77;
    set_boot(getpid(), segment_fd, "job-7", 0);
    check_refused("version 77");
}
END_TEST

static void boot_as_child_of_a_rank(void)
{
    check_refused("was started by rank 1");
}

START_TEST(a_child_of_a_rank_is_told_so)
{
    launch(2);
    set_boot(getpid(), segment_fd, "job-7", 1);
    ck_assert_int_eq(boot_open(), MPI_SUCCESS);
    ck_assert_int_eq(in_child(boot_as_child_of_a_rank), 0);
}
END_TEST

static void boot_beside_a_living_one(void)
{
    check_refused("already running as pid");
}

START_TEST(a_rank_runs_once)
{
    launch(2);
    pid_t other = fork();
    if (other == 0) {
        pause();
        _exit(0);
    }
    bootseg_rank(segment, 0)->pid = other;
    set_boot(getpid(), segment_fd, "job-7", 0);
    ck_assert_int_eq(in_child(boot_beside_a_living_one), 0);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    ck_assert_int_eq(boot_open(), MPI_SUCCESS); /* it died before it was an MPI process */
    ck_assert_int_eq(bootseg_rank(segment, 0)->pid, getpid());
}
END_TEST

START_TEST(a_rank_does_not_run_again)
{
    launch(4);
    ck_assert_int_eq(in_child(be_rank_2), 0);
    set_boot(getpid(), segment_fd, "job-7", 2);
    check_refused("has already run");
}
END_TEST

static void abort_with_300(void)
{
    set_boot(getppid(), segment_fd, "job-7", 1);
    ck_assert_int_eq(boot_open(), MPI_SUCCESS);
    boot_abort(300, "it broke");
}

static void abort_with_0(void)
{
    set_boot(getppid(), segment_fd, "job-7", 0);
    ck_assert_int_eq(boot_open(), MPI_SUCCESS);
    boot_abort(0, "me too");
}

START_TEST(the_first_abort_is_recorded)
{
    launch(2);
    ck_assert_int_eq(in_child(abort_with_300), 300 & 255);
    ck_assert_int_eq(in_child(abort_with_0), 1);
    ck_assert_uint_eq(segment->abort_state, 2);
    ck_assert_int_eq(segment->abort_rank, 1);
    ck_assert_int_eq(segment->abort_code, 300 & 255);
    ck_assert_str_eq(segment->abort_text, "it broke");
    ck_assert_uint_ge(segment->launcher.bell, 1);
}
END_TEST

START_TEST(the_second_abort_waits_for_the_text_of_the_first)
{
    launch(2);
    segment->abort_state = 1; /* the first one is writing */
    pid_t second = fork();
    if (second == 0)
        abort_with_0();
    usleep(50000);
    ck_assert_int_eq(waitpid(second, NULL, WNOHANG), 0);
    segment->abort_state = 2;
    ck_assert_int_eq(waitpid(second, NULL, 0), second);
}
END_TEST

static void abort_alone(void)
{
    close(2);
    ck_assert_int_eq(boot_open(), MPI_SUCCESS);
    boot_abort(9, "alone");
}

START_TEST(a_singleton_aborts_with_its_code)
{
    ck_assert_int_eq(in_child(abort_alone), 9);
}
END_TEST

/* Said on stderr while booting as a singleton. */
static const char *notice(void)
{
    static char text[1024];
    int file = memfd_create("stderr", 0), kept = dup(2);
    dup2(file, 2);
    ck_assert_int_eq(boot_open(), MPI_SUCCESS);
    dup2(kept, 2);
    ssize_t n = pread(file, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    ck_assert_str_eq(boot.how, "singleton");
    return text;
}

START_TEST(slurm_without_pmix_is_pointed_out)
{
    setenv("SLURM_PROCID", "0", 1);
    setenv("SLURM_NTASKS", "4", 1);
    const char *said = notice();
    ck_assert_ptr_nonnull(strstr(said, "4 processes"));
    ck_assert_ptr_nonnull(strstr(said, "srun --mpi=pmix"));
}
END_TEST

START_TEST(once_by_the_first_rank_only)
{
    setenv("OMPI_COMM_WORLD_RANK", "1", 1);
    setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
    ck_assert_str_eq(notice(), "");
}
END_TEST

START_TEST(one_task_is_no_job)
{
    setenv("PMI_RANK", "0", 1);
    setenv("PMI_SIZE", "1", 1);
    ck_assert_str_eq(notice(), "");
}
END_TEST

START_TEST(a_pmix_job_without_its_server_is_an_error)
{
    setenv("PMIX_NAMESPACE", "nowhere", 1);
    setenv("PMIX_RANK", "0", 1);
    check_refused("PMI"); /* no library, or no server: both are named */
}
END_TEST

UNIT_MAIN("boot", alone_without_a_launcher, a_rank_under_the_launcher,
          a_wrapper_may_close_the_file, the_number_may_mean_another_file,
          the_number_may_mean_the_segment_of_another_job, what_cannot_be_joined_is_refused,
          a_child_of_a_rank_is_told_so, a_rank_runs_once, a_rank_does_not_run_again,
          the_first_abort_is_recorded, the_second_abort_waits_for_the_text_of_the_first,
          a_singleton_aborts_with_its_code, slurm_without_pmix_is_pointed_out,
          once_by_the_first_rank_only, one_task_is_no_job,
          a_pmix_job_without_its_server_is_an_error)

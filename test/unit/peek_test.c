/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpirun --status finds each job once, however many there are, and looks at all of them at the same time.
 */
#define _GNU_SOURCE 1 /* memfd_create */
#include "launcher/show.h"
#include "launcher/status.h"
#include "runtime/bootseg.h"
#include "runtime/clock.h"

#include "test/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JOBS = 20 }; /* each is looked at for .1 s: 2 s if one after another */

/* A segment among the open files of this process, twice, as ranks have it as well. */
static void open_job(int number)
{
    char name[BOOT_JOB_CHARS];
    size_t bytes = bootseg_bytes(1, 1, "");
    int fd = memfd_create("xmpi-job", 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, (off_t)bytes), 0);
    struct boot_header *segment = mmap(NULL, bytes, PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(segment, MAP_FAILED);
    snprintf(name, sizeof name, "peek-%d", number);
    bootseg_format(segment, name, 1, 1, "");
    munmap(segment, bytes);
    ck_assert_int_ge(dup(fd), 0);
}

/* How often this job is in the text. */
static int times_of(const char *text, int number)
{
    char heading[BOOT_JOB_CHARS + 8];
    int n = 0;
    snprintf(heading, sizeof heading, "job peek-%d (", number);
    while ((text = strstr(text, heading))) {
        n++;
        text++;
    }
    return n;
}

START_TEST(each_job_is_shown_once)
{
    char which[16];
    for (int i = 0; i < JOBS; i++)
        open_job(i);
    snprintf(which, sizeof which, "%d", (int)getpid());
    FILE *said = tmpfile();
    int kept = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(fileno(said), STDOUT_FILENO);
    uint64_t begin = clock_ns();
    int status = status_main(which);
    double seconds = (double)(clock_ns() - begin) * 1e-9;
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    ck_assert_int_eq(status, 0);
    ck_assert_msg(seconds >= 0.1 && seconds < 1.5, "it took %g s", seconds);
    size_t room = (size_t)lseek(fileno(said), 0, SEEK_END);
    char *text = calloc(1, room + 1);
    ck_assert_int_eq(pread(fileno(said), text, room, 0), (ssize_t)room);
    for (int i = 0; i < JOBS; i++)
        ck_assert_msg(times_of(text, i) == 1, "job %d is shown %d times", i, times_of(text, i));
    free(text);
    fclose(said);
}
END_TEST

UNIT_MAIN("peek", each_job_is_shown_once)

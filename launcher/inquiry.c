/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See inquiry.h.  Who asks while a survey is under way gets its result as well.  An answer stays among
 * our files until four others have come after it; who asked has taken it long before.
 */
#define _GNU_SOURCE 1 /* memfd_create, F_ADD_SEALS */
#include "launcher/inquiry.h"

#include "launcher/explain.h"
#include "launcher/job.h"
#include "launcher/post.h"
#include "launcher/status.h"
#include "launcher/survey.h"
#include "runtime/clock.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_ASKERS = 16, KEPT = 4 };

static struct {
    struct asker {
        int host; /* where the question was put */
        int64_t number;
    } askers[MOST_ASKERS];
    int n; /* a survey is under way for them */
} inquiry;

/* ---- the answer ---- */

static bool fill(int fd, const char *text, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n = write(fd, text + done, bytes - done);
        if (n < 0)
            return false;
        done += (size_t)n;
    }
    return fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK) == 0;
}

/* Where the asker finds it. */
static void lay_out(int64_t number, const char *text, size_t bytes)
{
    static int kept[KEPT], next;
    char name[40];
    snprintf(name, sizeof name, INQUIRY_NAME "%d", (int)number);
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || !fill(fd, text, bytes)) {
        if (fd >= 0)
            close(fd);
        return;
    }
    if (kept[next])
        close(kept[next]);
    kept[next] = fd;
    next = (next + 1) % KEPT;
}

static void got_text(struct job *job, int from, struct unpack *text)
{
    size_t bytes;
    (void)job, (void)from;
    int64_t number = unpack_number(text);
    const char *words = unpack_bytes(text, &bytes);
    if (!text->bad)
        lay_out(number, words, bytes);
}

static void answer_all(struct job *job, const char *text, size_t bytes)
{
    for (int i = 0; i < inquiry.n; i++) {
        struct pack pack = { 0 };
        pack_number(&pack, inquiry.askers[i].number);
        pack_bytes(&pack, text, bytes);
        post_send(job, inquiry.askers[i].host, POST_STATUS_TEXT, &pack);
        pack_free(&pack);
    }
    inquiry.n = 0;
}

static void surveyed(struct job *job, const char *why, const struct situation *ranks,
                     int missing)
{
    size_t bytes = 0;
    char heading[160];
    (void)why;
    snprintf(heading, sizeof heading, "job %s (xmpirun is pid %d), %d ranks:\n", job->id,
             (int)getpid(), job->plan->world);
    char *text = explain_text(job, heading, ranks, missing, STATUS_SETTLED, &bytes);
    answer_all(job, text, bytes);
    free(text);
}

/* ---- the question ---- */

static void got_question(struct job *job, int from, struct unpack *question)
{
    struct asker asker = { from, unpack_number(question) };
    if (question->bad || !survey_is_possible(job) || inquiry.n == MOST_ASKERS)
        return;
    inquiry.askers[inquiry.n++] = asker;
    if (inquiry.n > 1)
        return;
    if (!survey_begin(job, true, "", surveyed))
        inquiry.n = 0; /* they see the ranks of their host */
}

void inquiry_open(void)
{
    post_handle(POST_STATUS, got_question);
    post_handle(POST_STATUS_TEXT, got_text);
}

void inquiry_came(struct job *job, int number)
{
    struct pack pack = { 0 };
    if (!job->others)
        return;
    pack_number(&pack, number);
    post_send(job, POST_ROOT, POST_STATUS, &pack);
    pack_free(&pack);
}

/* ---- who asks ---- */

static char *read_sealed(const char *path, size_t *bytes)
{
    char *text = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fcntl(fd, F_GET_SEALS) & F_SEAL_WRITE) {
        off_t size = lseek(fd, 0, SEEK_END);
        text = size > 0 ? malloc((size_t)size) : NULL;
        *bytes = (size_t)size;
        if (text && pread(fd, text, *bytes, 0) != (ssize_t)*bytes) {
            free(text);
            text = NULL;
        }
    }
    if (fd >= 0)
        close(fd);
    return text;
}

static char *look_for_answer(int launcher, const char *name, size_t *bytes)
{
    char path[300], target[80], *text = NULL;
    snprintf(path, sizeof path, "/proc/%d/fd", launcher);
    DIR *files = opendir(path);
    for (struct dirent *file; files && !text && (file = readdir(files));) {
        if (!isdigit((unsigned char)file->d_name[0]))
            continue;
        snprintf(path, sizeof path, "/proc/%d/fd/%s", launcher, file->d_name);
        ssize_t n = readlink(path, target, sizeof target - 1);
        target[n > 0 ? n : 0] = '\0';
        if (strncmp(target, "/memfd:", 7) == 0 &&
            strncmp(target + 7, name, strlen(name)) == 0 && target[7 + strlen(name)] == ' ')
            text = read_sealed(path, bytes);
    }
    if (files)
        closedir(files);
    return text;
}

char *inquiry_ask(int launcher, size_t *bytes)
{
    static int asked;
    char name[40], *text = NULL;
    int number = (int)((unsigned)getpid() * 1000u + (unsigned)asked++ % 1000u) & 0x7fffffff;
    snprintf(name, sizeof name, INQUIRY_NAME "%d", number);
    if (sigqueue(launcher, INQUIRY_SIGNAL, (union sigval){ .sival_int = number }) != 0)
        return NULL;
    uint64_t until = clock_ns() + (SURVEY_MS + 1000) * 1000000ull;
    while (!(text = look_for_answer(launcher, name, bytes)) && clock_ns() < until)
        usleep(10000);
    return text;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lines of the program: an address in a rank becomes a file and an offset in it, by the rank's
 * /proc/PID/maps, and that a line, by addr2line where it is installed.  A return address belongs
 * to the call before it, so one byte less is asked for.  Answers are kept: ranks tend to be stuck
 * at the same line.  addr2line gets five seconds each time and ten in all, and no more once a signal
 * waits that the launcher has blocked and would answer.
 */
#define _GNU_SOURCE 1 /* pipe2 */
#include "launcher/status.h"

#include "launcher/calls.h"

#include "runtime/clock.h"

#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { KEPT = 64, TEXT = 320, LIMIT_MS = 5000, LIMIT_ALL_MS = 10000, GLANCE_MS = 50 };

static struct kept {
    char asked[TEXT], answer[TEXT];
} kept[KEPT];
static int nkept;
static uint64_t spent_ns;

/* ---- asking addr2line ---- */

static pid_t ask(const char *file, const char *offset, int out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
    char *argv[] = { "addr2line", "-f", "-C", "-s", "-e", (char *)file, (char *)offset, NULL };
    pid_t pid;
    int error = posix_spawnp(&pid, argv[0], &files, &how, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    return error ? -1 : pid;
}

/* Does somebody want the job to end, or to hear more of it? */
static bool is_called(void)
{
    sigset_t waiting;
    if (sigpending(&waiting) != 0)
        return false;
    for (int i = 0; i < CALLS; i++)
        if (sigismember(&waiting, calls[i]))
            return true;
    return false;
}

/* Everything up to the end, or as much as comes in time. */
static void read_answer(int fd, char *text, size_t room)
{
    size_t used = 0;
    uint64_t end = clock_ns() + LIMIT_MS * 1000000ull;
    while (used < room - 1 && clock_ns() < end && !is_called()) {
        struct pollfd ready = { fd, POLLIN, 0 };
        int n_ready = poll(&ready, 1, GLANCE_MS);
        if (n_ready < 0)
            break;
        if (n_ready == 0)
            continue;
        ssize_t n = read(fd, text + used, room - 1 - used);
        if (n <= 0)
            break;
        used += (size_t)n;
    }
    text[used] = '\0';
}

/* "main\nfile.c:12 (discriminator 3)\n" -> "file.c:12 (main)"; false: it does not know. */
static bool answer_reads(char *answer, char *text, size_t room)
{
    char *line = strchr(answer, '\n');
    if (!line)
        return false;
    *line++ = '\0';
    line[strcspn(line, " \n")] = '\0';
    if (!*line || line[0] == '?' || strstr(line, ":?"))
        return false;
    snprintf(text, room, "%.200s (%.100s)", line, answer);
    return true;
}

static bool look_up(const char *file, uint64_t offset, char *text, size_t room)
{
    int ends[2];
    if (spent_ns > LIMIT_ALL_MS * 1000000ull || is_called() || pipe2(ends, O_CLOEXEC) != 0)
        return false;
    uint64_t begin = clock_ns();
    char number[32], answer[TEXT] = "";
    snprintf(number, sizeof number, "0x%llx", (unsigned long long)offset);
    pid_t pid = ask(file, number, ends[1]);
    close(ends[1]);
    if (pid > 0) {
        read_answer(ends[0], answer, sizeof answer);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    close(ends[0]);
    spent_ns += clock_ns() - begin;
    return pid > 0 && answer_reads(answer, text, room);
}

/* ---- an offset in a file ---- */

static const char *place_in(const char *file, uint64_t offset)
{
    char asked[TEXT];
    snprintf(asked, sizeof asked, "%.280s+0x%llx", file, (unsigned long long)offset);
    for (int i = 0; i < nkept; i++)
        if (strcmp(kept[i].asked, asked) == 0)
            return kept[i].answer;
    struct kept *k = &kept[nkept < KEPT ? nkept++ : KEPT - 1];
    snprintf(k->asked, sizeof k->asked, "%s", asked);
    const char *base = strrchr(asked, '/');
    if (!look_up(file, offset - 1, k->answer, sizeof k->answer))
        snprintf(k->answer, sizeof k->answer, "%s", base ? base + 1 : asked);
    return k->answer;
}

const char *place_named(const char *place)
{
    char file[TEXT];
    const char *plus = strrchr(place, '+');
    if (!plus || plus == place)
        return "";
    snprintf(file, sizeof file, "%.*s", (int)(plus - place), place);
    return place_in(file, strtoull(plus + 1, NULL, 16));
}

/* ---- an address in a process ---- */

/* Programs that are not position-independent have their addresses in the file. */
static bool is_fixed(const char *file)
{
    Elf64_Ehdr header;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    bool fixed = fd >= 0 && read(fd, &header, sizeof header) == (ssize_t)sizeof header &&
                 header.e_type == ET_EXEC;
    if (fd >= 0)
        close(fd);
    return fixed;
}

const char *place_of(pid_t pid, uint64_t address)
{
    char path[64], line[4600], file[4200], base_file[4200] = "";
    unsigned long long start, end, offset, base = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = pid && address ? fopen(path, "re") : NULL;
    const char *found = "";
    while (maps && fgets(line, sizeof line, maps)) {
        file[0] = '\0';
        if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %4190[^\n]", &start, &end, &offset, file) <
            3)
            continue;
        if (strcmp(file, base_file) != 0) {
            memcpy(base_file, file, sizeof file);
            base = start - offset;
        }
        if (address < start || address >= end)
            continue;
        if (file[0] == '/')
            found = place_in(file, is_fixed(file) ? address : address - base);
        break;
    }
    if (maps)
        fclose(maps);
    return found;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Info objects (MPI 5.0, chapter 10): pairs of strings in the order in which their keys were
 * first set.  They hold a handful of pairs, so finding one is a walk.
 *
 * MPI_INFO_ENV is an info like any other that nobody may change.  It is made when a program
 * first looks at it: reading the command line costs system calls that MPI_Init need not pay.
 */
#include "src/info.h"

#include "mpi.h"
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "src/api/info.h"
#include "src/api/stream.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the pairs ---- */

struct info *info_new(void)
{
    return object_new(OBJECT_INFO, sizeof(struct info));
}

void info_delete(struct info *info)
{
    if (!info)
        return;
    for (int i = 0; i < info->n; i++) {
        free(info->pairs[i].key);
        free(info->pairs[i].value);
    }
    free(info->pairs);
    object_delete(info);
}

struct info *info_copy(const struct info *info)
{
    struct info *copy = info_new();
    for (int i = 0; copy && info && i < info->n; i++)
        if (info_set(copy, info->pairs[i].key, info->pairs[i].value)) {
            info_delete(copy);
            return NULL;
        }
    return copy;
}

static int info_find(const struct info *info, const char *key)
{
    for (int i = 0; i < info->n; i++)
        if (!strcmp(info->pairs[i].key, key))
            return i;
    return -1;
}

const char *info_get(const struct info *info, const char *key)
{
    int i = info ? info_find(info, key) : -1;
    return i < 0 ? NULL : info->pairs[i].value;
}

static int no_memory(void)
{
    return fail(MPI_ERR_NO_MEM, "no memory for an info object");
}

static int info_grow(struct info *info)
{
    if (info->n < info->capacity)
        return MPI_SUCCESS;
    int capacity = info->capacity ? 2 * info->capacity : 4;
    struct info_pair *pairs = realloc(info->pairs, (size_t)capacity * sizeof *pairs);
    if (!pairs)
        return no_memory();
    info->pairs = pairs;
    info->capacity = capacity;
    return MPI_SUCCESS;
}

int info_set(struct info *info, const char *key, const char *value)
{
    int at = info_find(info, key);
    if (at < 0 && info_grow(info))
        return MPI_ERR_NO_MEM;
    char *v = strdup(value), *k = at < 0 ? strdup(key) : NULL;
    if (!v || (at < 0 && !k)) {
        free(v);
        free(k);
        return no_memory();
    }
    if (at < 0) {
        info->pairs[info->n++] = (struct info_pair){ k, v };
    } else {
        free(info->pairs[at].value);
        info->pairs[at].value = v;
    }
    return MPI_SUCCESS;
}

/* ---- MPI_INFO_ENV ---- */

static struct info *env;

/* Read a small file of strings that end in zeros; the number of bytes, 0 when it is not there. */
static size_t read_strings(const char *path, char *to, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    size_t n = 0;
    ssize_t got;
    while (n < room - 1 && (got = read(fd, to + n, room - 1 - n)) > 0)
        n += (size_t)got;
    close(fd);
    to[n] = 0;
    return n;
}

/* "command" and "argv" (joined by blanks) from n strings that end in zeros. */
static int env_command(struct info *info, const char *words, size_t bytes)
{
    char argv[MPI_MAX_INFO_VAL] = "";
    size_t used = 0;
    for (const char *w = words + strlen(words) + 1; w < words + bytes; w += strlen(w) + 1) {
        int n = snprintf(argv + used, sizeof argv - used, "%s%s", used ? " " : "", w);
        if ((size_t)n >= sizeof argv - used)
            break;
        used += (size_t)n;
    }
    char command[MPI_MAX_INFO_VAL];
    snprintf(command, sizeof command, "%s", words);
    int rc = info_set(info, "command", command);
    return rc || !used ? rc : info_set(info, "argv", argv);
}

static int env_place(struct info *info)
{
    char text[MPI_MAX_INFO_VAL];
    if (!gethostname(text, sizeof text) && info_set(info, "host", text))
        return MPI_ERR_NO_MEM;
    if (getcwd(text, sizeof text) && info_set(info, "wdir", text))
        return MPI_ERR_NO_MEM;
#if defined(__x86_64__)
    return info_set(info, "arch", "x86_64");
#elif defined(__aarch64__)
    return info_set(info, "arch", "aarch64");
#else
    return MPI_SUCCESS;
#endif
}

/* What does not depend on whether MPI is initialised. */
static int env_fill(struct info *info)
{
    char words[8192];
    size_t bytes = read_strings("/proc/self/cmdline", words, sizeof words);
    int rc = bytes ? env_command(info, words, bytes) : MPI_SUCCESS;
    return rc ? rc : env_place(info);
}

struct info *info_env(void)
{
    if (!env && (!(env = info_new()) || env_fill(env)))
        return NULL;
    env->ours = true;
    if (boot.segment && !info_get(env, "maxprocs")) {
        char maxprocs[32], memory[MPI_MAX_INFO_VAL];
        snprintf(maxprocs, sizeof maxprocs, "%d", boot.size);
        memory_kinds(NULL, memory, sizeof memory);
        if (info_set(env, MEMORY_KINDS_KEY, memory) || info_set(env, "maxprocs", maxprocs))
            return NULL;
    }
    return env;
}

/* A program may look at it before MPI_Init and after MPI_Finalize, so it goes with the process. */
__attribute__((destructor)) static void env_end(void)
{
    info_delete(env);
    env = NULL;
}

/* The first byte of memory first, as MPICH writes them. */
int xmpix_info_set_hex(info_live_t info, string_t key, pointer_in_t value, length_t value_size)
{
    const unsigned char *bytes = value;
    char text[MPI_MAX_INFO_VAL];
    if ((size_t)value_size >= sizeof text / 2)
        return fail(MPI_ERR_INFO_VALUE,
                    "argument value_size is %d; %zu bytes are the most that a value holds",
                    value_size, sizeof text / 2 - 1);
    text[0] = 0;
    for (int i = 0; i < value_size; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return xmpi_info_set(info, key, text);
}

int xmpi_info_create_env(int argc, char *argv[], info_out_t *info)
{
    if (argc < 0)
        return fail(MPI_ERR_ARG, "argument argc is %d, must not be negative", argc);
    struct info *made = info_new();
    if (!made || env_fill(made)) {
        info_delete(made);
        return no_memory();
    }
    char words[8192];
    size_t used = 0;
    for (int i = 0; argv && i < argc && argv[i]; i++) {
        size_t n = strlen(argv[i]) + 1;
        if (n > sizeof words - used)
            break;
        memcpy(words + used, argv[i], n);
        used += n;
    }
    if (used && env_command(made, words, used)) {
        info_delete(made);
        return no_memory();
    }
    *info = made;
    return MPI_SUCCESS;
}

/* ---- checks ---- */

static int info_check(const struct info *info)
{
    return info ? MPI_SUCCESS : fail(MPI_ERR_INFO, "argument info is MPI_INFO_NULL");
}

static int info_check_writable(const struct info *info)
{
    if (info && info == env)
        return fail(MPI_ERR_INFO, "argument info is MPI_INFO_ENV, which cannot be changed; "
                                  "MPI_Info_dup makes a copy that can");
    return info_check(info);
}

static int key_check(const char *key)
{
    size_t n = strlen(key);
    if (n == 0)
        return fail(MPI_ERR_INFO_KEY, "argument key is the empty string");
    if (n >= MPI_MAX_INFO_KEY)
        return fail(MPI_ERR_INFO_KEY, "argument key has %zu characters, at most %d are allowed",
                    n, MPI_MAX_INFO_KEY - 1);
    return MPI_SUCCESS;
}

static int value_check(const char *value)
{
    size_t n = strlen(value);
    if (n >= MPI_MAX_INFO_VAL)
        return fail(MPI_ERR_INFO_VALUE,
                    "argument value has %zu characters, at most %d are allowed", n,
                    MPI_MAX_INFO_VAL - 1);
    return MPI_SUCCESS;
}

static int question_check(const struct info *info, const char *key)
{
    int rc = info_check(info);
    return rc ? rc : key_check(key);
}

/* ---- the functions of the standard ---- */

int xmpi_info_create(info_out_t *info)
{
    *info = info_new();
    return *info ? MPI_SUCCESS : no_memory();
}

int xmpi_info_dup(info_t info, info_out_t *newinfo)
{
    int rc = info_check(info);
    if (rc)
        return rc;
    *newinfo = info_copy(info);
    return *newinfo ? MPI_SUCCESS : no_memory();
}

int xmpi_info_free(info_free_t *info)
{
    int rc = info_check_writable(*info);
    if (rc)
        return rc;
    info_delete(*info);
    *info = NULL;
    return MPI_SUCCESS;
}

int xmpi_info_set(info_t info, string_t key, string_t value)
{
    int rc = info_check_writable(info);
    if (!rc)
        rc = key_check(key);
    if (!rc)
        rc = value_check(value);
    return rc ? rc : info_set(info, key, value);
}

int xmpi_info_delete(info_t info, string_t key)
{
    int rc = info_check_writable(info);
    if (!rc)
        rc = key_check(key);
    if (rc)
        return rc;
    int at = info_find(info, key);
    if (at < 0)
        return fail(MPI_ERR_INFO_NOKEY, "the info has no key \"%s\"", key);
    free(info->pairs[at].key);
    free(info->pairs[at].value);
    info->n--;
    memmove(&info->pairs[at], &info->pairs[at + 1],
            (size_t)(info->n - at) * sizeof info->pairs[0]);
    return MPI_SUCCESS;
}

int xmpi_info_get_nkeys(info_t info, int_out_t *nkeys)
{
    int rc = info_check(info);
    if (!rc)
        *nkeys = info->n;
    return rc;
}

int xmpi_info_get_nthkey(info_t info, int n, text_out_t key)
{
    int rc = info_check(info);
    if (rc)
        return rc;
    if (n < 0 || n >= info->n)
        return fail(MPI_ERR_ARG, "argument n is %d, the info has %d keys counted from 0", n,
                    info->n);
    strcpy(key, info->pairs[n].key);
    return MPI_SUCCESS;
}

int xmpi_info_get_string(info_t info, string_t key, int_out_t *buflen, char *value,
                         flag_t *flag)
{
    int rc = question_check(info, key);
    if (rc)
        return rc;
    if (*buflen < 0)
        return fail(MPI_ERR_ARG, "argument buflen is %d, a length cannot be negative", *buflen);
    const char *found = info_get(info, key);
    *flag = found != NULL;
    if (!found)
        return MPI_SUCCESS;
    if (*buflen > 0 && !value)
        return fail(MPI_ERR_ARG, "argument value is NULL, buflen promises room for %d bytes",
                    *buflen);
    if (*buflen > 0)
        snprintf(value, (size_t)*buflen, "%s", found);
    *buflen = (int)strlen(found) + 1;
    return MPI_SUCCESS;
}

/* ---- deprecated in MPI 4.0 ---- */

int xmpi_info_get(info_t info, string_t key, int valuelen, char *value, flag_t *flag)
{
    int rc = question_check(info, key);
    if (rc)
        return rc;
    if (valuelen < 0)
        return fail(MPI_ERR_ARG, "argument valuelen is %d, a length cannot be negative",
                    valuelen);
    if (!value)
        return fail_null(MPI_ERR_ARG, "value");
    const char *found = info_get(info, key);
    *flag = found != NULL;
    if (found) { /* valuelen does not count the zero at the end */
        size_t n = strnlen(found, (size_t)valuelen);
        memcpy(value, found, n);
        value[n] = 0;
    }
    return MPI_SUCCESS;
}

int xmpi_info_get_valuelen(info_t info, string_t key, int_out_t *valuelen, flag_t *flag)
{
    int rc = question_check(info, key);
    if (rc)
        return rc;
    const char *found = info_get(info, key);
    *flag = found != NULL;
    if (found)
        *valuelen = (int)strlen(found);
    return MPI_SUCCESS;
}

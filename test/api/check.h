/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For the programs of test/api: what a call that fails has to give.
 */
#ifndef TEST_API_CHECK_H
#define TEST_API_CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int checks_failed;

#define CHECK(condition)                                                                       \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            checks_failed++;                                                                   \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                             \
        }                                                                                      \
    } while (0)

static inline void errors_return(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

/* The code has the class and its text contains the words. */
static inline void check_fails(int code, int class, const char *words, const char *call,
                               int line)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int found = -1, length;
    MPI_Error_class(code, &found);
    MPI_Error_string(code, text, &length);
    if (found == class && strstr(text, words))
        return;
    checks_failed++;
    printf("line %d: %s: class %d instead of %d, or no \"%s\" in: %s\n", line, call, found,
           class, words, text);
}

#define FAILS(call, class, words) check_fails(call, class, words, #call, __LINE__)

#endif

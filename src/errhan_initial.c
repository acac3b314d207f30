/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The error handler a program begins with (MPI 5.0, 9.3 and 11.5, `-initial-errhandler`): the
 * launcher passes it as XMPI_INITIAL_ERRHANDLER.  Communicators, sessions and errors that concern
 * no object have it until the program sets another.
 */
#include "src/errhan.h"

#include "runtime/param.h"

#include <string.h>

static const struct initial {
    const char *name;
    struct errhandler *errhandler;
} initials[] = {
    { "mpi_errors_are_fatal", &errors_are_fatal },
    { "mpi_errors_abort", &errors_abort },
    { "mpi_errors_return", &errors_return },
};

static struct errhandler *initial_find(void)
{
    params_read();
    const char *name = param_string(INITIAL_ERRHANDLER);
    for (size_t i = 0; name && i < sizeof initials / sizeof initials[0]; i++)
        if (strcmp(name, initials[i].name) == 0)
            return initials[i].errhandler;
    return &errors_are_fatal;
}

struct errhandler *errhandler_initial(void)
{
    static struct errhandler *_Atomic found;
    if (!found)
        found = initial_find();
    return found;
}

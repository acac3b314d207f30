/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/boot_way.h"
#include "runtime/fail.h"

#include "mpi.h"

static int pmix_open(void)
{
    return fail(MPI_ERR_OTHER, "booting over PMIx is not built");
}

static void pmix_close(void)
{
}

static void pmix_abort(int code, const char *text)
{
    (void)code, (void)text;
}

const struct boot_way boot_pmix = { "pmix", pmix_open, pmix_close, pmix_abort };

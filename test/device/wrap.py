#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write MPI functions that pass every buffer on as memory of a device (fake.h).

    python3 wrap.py test/api/functions.txt > wrap.c

Linked into a program of test/conform, unchanged, they stand between it and the library: the
program sees its data at the addresses of the host, MPI gets those of the device, in which a
processor cannot read or write.  MPI_Get_address gives addresses of the device, so types behind
MPI_BOTTOM describe data there as well.  With XMPI_TEST_MEMORY=mixed that holds for every other rank.
"""
import re
import sys

BUFFERS = {"buf", "buffer", "sendbuf", "recvbuf", "inbuf", "outbuf", "inoutbuf"}
OTHERS = re.compile(r"MPI_(T_|File|Buffer|Comm_attach|Comm_detach|Session_attach|Session_detach)")
HEAD = """/* Written by test/device/wrap.py. */
#include "fake.h"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* Of mixed sides, those of odd ranks are in memory of the host. */
static int is_away(void)
{
    const char *memory = getenv("XMPI_TEST_MEMORY"), *rank = getenv("LOCAL_RANK");
    return !memory || strcmp(memory, "mixed") != 0 || !rank || atoi(rank) % 2 == 0;
}

static void *away(const void *host)
{
    return !is_away() || host == MPI_BOTTOM || host == MPI_IN_PLACE ? (void *)host : fake_device(host);
}

int MPI_Get_address(const void *location, MPI_Aint *address)
{
    int rc = PMPI_Get_address(location, address);
    *address |= is_away() ? (MPI_Aint)FAKE_DEVICE : 0;
    return rc;
}
"""


def wrapper(line):
    name, rest = line.split(": ", 1)
    result, *parameters = rest.strip().split(", ")
    given, moved = [], False
    for parameter in parameters:
        word = re.search(r"(\w+)(\[\])*$", parameter).group(1)
        if word in BUFFERS and re.match(r"(const )?void \*\w+$", parameter):
            word, moved = "away(%s)" % word, True
        given.append(word)
    if moved:
        return "\n%s %s(%s)\n{\n    return P%s(%s);\n}\n" % (
            result, name, ", ".join(parameters), name, ", ".join(given))
    return ""


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = [line for line in file if "buf" in line and not OTHERS.match(line)]
    print(HEAD + "".join(wrapper(line) for line in lines), end="")


main()

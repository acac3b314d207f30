#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write MPI functions that call their large-count forms: every MPI_X that has an MPI_X_c.

    python3 wrap.py > wrap.c            python3 wrap.py --names

Linked into a program of test/conform, unchanged, they stand between it and the library, so what
is said there about MPI_X is asked of MPI_X_c.  The kinds of the parameters (src/api/kinds.h) tell
what to convert: numbers by themselves, results through a variable, arrays into longer ones
(large.h).  The functions called are reported to the file XMPI_TEST_CALLED.  Those that tell how a
type was made are left out: they are asked, in their small form, about types made by the large one.
"""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "src"))
import gen_api

LEFT_OUT = "MPI_Type_get_envelope", "MPI_Type_get_contents"
HEAD = """/* Written by test/large/wrap.py. */
#include "large.h"

#define FUNCTIONS %d
static const char *const names[FUNCTIONS] = {
%s};
static bool called[FUNCTIONS];

__attribute__((destructor)) static void report(void)
{
    report_called(names, called, FUNCTIONS);
}
"""


def twins():
    return [f for _, functions in gen_api.chapters() for f in functions
            if f.has_twin() and not f.is_("later") and f.name not in LEFT_OUT]


def length(function, array):
    """How many elements of this array the function looks at, in C."""
    names = [p.name for p in function.parameters]
    if "comm" not in names:
        return "ndims" if "ndims" in names else "count"
    if "neighbor" in function.body:
        return "neighbours(comm, %s)" % ("true" if array.startswith("s") else "false")
    if "reduce_scatter" in function.body:
        return "own_size(comm)"
    return "is_root(comm, root) ? peers(comm) : 0" if "root" in names else "peers(comm)"


class Wrapper:
    def __init__(self, number, function):
        self.number, self.f = number, function
        self.before, self.after, self.given = [], [], []
        self.shown = [p for p in function.parameters if p.kind.user]
        for p in function.parameters:
            if p.kind.wide:
                self.given.append(self.convert(p) if p.kind.user != p.kind.wide else p.name)

    def convert(self, p):
        if p.type == "user_function_t":
            return "widened_function(%s)" % p.name
        if p.type == "extents_t":
            return "(const MPI_Count *)" + p.name
        if p.type in ("counts_t", "displs_t"):
            return self.array(p)
        return self.through(p) if "*" in p.kind.wide else p.name

    def array(self, p):
        self.before.append("void *%s_ = widened(%s, %s);" % (p.name, p.name, length(self.f, p.name)))
        if not any(q.name == "request" for q in self.shown):  # which outlives the call
            self.after.append("free(%s_);" % p.name)
        return p.name + "_"

    def through(self, p):
        ctype = p.kind.wide.split("*")[0].strip()
        start = "%s ? *%s : 0" % (p.name, p.name) if p.name == "position" else "0"
        self.before.append("%s %s_ = %s;" % (ctype, p.name, start))
        value = p.name + "_" if "Aint" in p.kind.user else "narrowed(%s_)" % p.name
        self.after.append("if (rc == MPI_SUCCESS)\n        *%s = %s;" % (p.name, value))
        return "%s ? &%s_ : NULL" % (p.name, p.name)

    def text(self):
        call = "PMPI%s_c(%s)" % (self.f.name.removeprefix("MPI"), ", ".join(self.given))
        lines = ["called[%d] = true;" % self.number] + self.before + ["int rc = %s;" % call]
        return "\n%s\n{\n    %s\n}\n" % (gen_api.declaration(self.f, "", "", False),
                                        "\n    ".join(lines + self.after + ["return rc;"]))


def main():
    functions = twins()
    if "--names" in sys.argv:
        print("\n".join(sorted(f.name + "_c" for f in functions)))
        return
    print(HEAD % (len(functions), "".join('    "%s_c",\n' % f.name for f in functions)), end="")
    print("".join(Wrapper(i, f).text() for i, f in enumerate(functions)), end="")


main()

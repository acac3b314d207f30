#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Is every argument of every function made wrong somewhere?  cover.py CASES FUZZ VALUES

Reads the tables that cases.py and fuzz.py have written and the calls of values.c, and compares
them with the prototypes of src/api.  An argument that none of them names has to stand in FREE: no
value of it is wrong, or nobody can tell.  Names that stand there without need are reported too.
Functions that are not built are called as a whole (cases.py); `manual` ones have no checks.
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "src"))
import gen_api

FREE = {
    "key", "high", "commute", "reorder",  # any number
    "status",                             # may be MPI_STATUS_IGNORE, which is NULL
    "argc", "argv",                       # may be NULL
    "required",                           # the nearest level that there is
    "free_cb_function", "dropped_cb_function", "event_cb_function",  # NULL: none
    # Distances of either sign.
    "MPI_Type_vector.stride", "MPI_Type_vector_c.stride", "MPI_Type_create_hvector.stride",
    "MPI_Type_create_hvector_c.stride", "MPI_Type_create_resized.lb",
    "MPI_Type_create_resized_c.lb", "MPI_Type_create_resized.extent",
    "MPI_Type_create_resized_c.extent", "MPI_Cart_shift.disp",
    # Kept as they are.
    "MPI_Status_set_cancelled.flag", "MPI_Status_set_source.source", "MPI_Status_set_tag.tag",
    "MPI_Status_set_error.error", "MPI_Status_set_elements_x.count",
    "MPI_Abort.errorcode",         # ends the job with any
    "MPI_T_event_read.element_index",  # only in callbacks: conform/tool_event.c
}


def tables(paths):
    covered = set()
    for path in paths:
        text = pathlib.Path(path).read_text(encoding="utf-8")
        covered |= set(re.findall(r'^    \{ "(\w+)", "(\w+)", ', text, re.M))
        covered |= set(re.findall(r"WRONG\(\s*(MPIX?_\w+),\s*(\w+),", text))
        covered |= {(f, "keyval") for f in re.findall(r"FAILS\((MPI_Attr_\w+)", text)}
    return covered


def arguments():
    for _, functions in gen_api.every_chapter():
        for f in functions:
            if f.is_("manual") or f.is_("later"):
                continue
            for suffix, wide in f.forms():
                for p in f.parameters:
                    if p.kind.wide if wide else p.kind.user:
                        yield f.name + suffix, p.name


def main():
    covered, every = tables(sys.argv[1:]), list(arguments())
    left = [(f, a) for f, a in every if (f, a) not in covered]
    wrong = [(f, a) for f, a in left if a not in FREE and f + "." + a not in FREE]
    for function, argument in wrong:
        print("%s: argument %s is never wrong" % (function, argument))
    needless = FREE - {a for _, a in left} - {f + "." + a for f, a in left}
    for name in sorted(needless):
        print("%s is made wrong, or does not exist" % name)
    print("%d functions, %d arguments, %d of them free" %
          (len({f for f, _ in every}), len(every), len(left)))
    return bool(wrong or needless)


if __name__ == "__main__":
    sys.exit(main())

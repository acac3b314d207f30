#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write two C tables for fuzz.c: fuzz.py > fuzz_cases.h

    junk    every handle that a function reads, alone, behind a pointer or in an array, with a
            place for any bit pattern; all other arguments are right
    nulls   every pointer that is no kind with NULL as a wrong value (cases.py has those); `must`
            says whether NULL has to be an error, or has a meaning
"""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cases
import gen_api

HANDLES = {user: name.upper() for name, user in gen_api.OBJECTS.items()}
HANDLES["MPI_Message"] = "MESSAGE"
HANDLES.update((h, "TOOL") for h in (
    "MPI_T_enum", "MPI_T_cvar_handle", "MPI_T_pvar_session", "MPI_T_pvar_handle",
    "MPI_T_event_registration", "MPI_T_event_instance"))

# Pointers that may be NULL: a meaning of the standard, or something only the program looks at.
MEANINGS = {"status", "array_of_statuses", "extra_state", "attribute_val", "argc", "argv", "base",
            "location", "query_fn", "free_fn", "cancel_fn"}


TOOLS = {"MPI_T_cb_safety": "MPI_T_CB_REQUIRE_NONE", "MPI_Info": "MPI_INFO_NULL",
         "MPI_T_cvar_handle": "good_cvar", "MPI_T_pvar_session": "good_pvar_session",
         "MPI_T_pvar_handle": "good_pvar", "MPI_T_event_registration": "good_registration",
         "MPI_T_event_cb_function": "NULL"}


NAMES = {"order": "MPI_ORDER_C", "datarep": '"external32"', "array_of_distribs": "distribs",
         "sources": "zeros", "destinations": "zeros", "edges": "zeros", "coords": "zeros",
         "ranks": "zeros", "ranks1": "zeros"}


def may_be_null(f, p):
    if p.name.endswith("_attr_fn") or f.name == "MPI_Keyval_create":
        return True
    if p.name in ("copy_fn", "delete_fn"):
        return True
    if "xscan" in f.name and p.name == "recvbuf":  # of rank 0 it is not significant
        return True
    return f.tool or p.name in MEANINGS


def right(f, p, wide):
    name = f.name.replace("MPI_", "")
    if p.type in ("comm_t", "intra_t"):
        if "eighbor_" in name or name in ("Cart_rank", "Cart_sub", "Cart_get", "Cart_coords"):
            return "grid"
        if name in ("Graph_get", "Graph_neighbors"):
            return "graph"
        if name == "Dist_graph_neighbors":
            return "dist"
    if p.name in NAMES:
        return NAMES[p.name]
    if name == "Type_get_contents":
        return "strided" if p.name == "datatype" else "16" if p.name.startswith("max") else cases.right(p, wide)
    if name == "Pready_list" and p.name == "request":
        return "good_part"
    if f.tool and p.name in ("cvar_index", "pvar_index", "event_index"):
        return "0"
    if f.tool and ctype(p, wide) in [(t, False) for t in TOOLS]:
        return TOOLS[ctype(p, wide)[0]]
    return cases.right(p, wide)


def call(f, suffix, wide, at, value):
    shown = [p for p in f.parameters if (p.kind.wide if wide else p.kind.user)]
    values = [value if p is at else right(f, p, wide) for p in shown]
    return "%s(%s)" % (f.name + suffix, ", ".join(values))


def ctype(p, wide):
    """The user's type of a parameter without its name, and whether it is a pointer or array."""
    text = (p.kind.wide if wide else p.kind.user).replace("const ", "").replace("{n}", "")
    return text.replace("*", "").replace("[]", "").strip(), "*" in text or "[]" in text


def is_result(f, p):
    return "_out_t" in p.type or f.name in ("MPI_Mprobe", "MPI_Improbe") or p.name in ("array_of_datatypes", "info_used")


def junk_case(rows, f, suffix, wide, p):
    base, pointer = ctype(p, wide)
    if base not in HANDLES or is_result(f, p):
        return
    if f.tool and pointer and not f.name.endswith("_free"):
        return
    print("static int junk_%d(void *junk)\n{" % len(rows))
    if pointer:
        print("    %s handles[2] = { (%s)junk, (%s)junk };" % (base, base, base))
        print("    return %s;\n}" % call(f, suffix, wide, p, "handles"))
    else:
        print("    return %s;\n}" % call(f, suffix, wide, p, "(%s)junk" % base))
    rows.append('    { "%s", "%s", "%s", junk_%d },' % (f.name + suffix, p.name, HANDLES[base], len(rows)))


def null_case(rows, f, suffix, wide, p):
    text = p.kind.wide if wide else p.kind.user
    if "*" not in text and "[]" not in text or p.type in cases.WRONG or p.type == "status_t":
        return  # MPI_STATUS_IGNORE; the call may wait for a message
    print("static int null_%d(void)\n{\n    return %s;\n}" % (len(rows), call(f, suffix, wide, p, "NULL")))
    must = "0" if may_be_null(f, p) else "1"
    rows.append('    { "%s", "%s", %s, null_%d },' % (f.name + suffix, p.name, must, len(rows)))


def main():
    junk, nulls = [], []
    print("/* Written by test/api/fuzz.py. */")
    for _, functions in gen_api.every_chapter():
        for f in functions:
            if f.is_("manual") or f.name in ("MPI_Init", "MPI_Init_thread", "MPI_T_init_thread"):
                continue
            for suffix, wide in f.forms():
                for p in f.parameters:
                    if not (p.kind.wide if wide else p.kind.user):
                        continue
                    inter = any(q.type == "inter_t" for q in f.parameters)
                    if f.is_("later") and p is not f.owner or inter and p.type != "inter_t":
                        continue
                    junk_case(junk, f, suffix, wide, p)
                    if not f.is_("later"):
                        null_case(nulls, f, suffix, wide, p)
    print("static const struct junk_case junk_cases[] = {\n%s\n};" % "\n".join(junk))
    print("static const struct null_case null_cases[] = {\n%s\n};" % "\n".join(nulls))


if __name__ == "__main__":
    main()

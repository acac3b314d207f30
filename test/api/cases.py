#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write a C table of calls in which one argument is wrong: cases.py > cases.h

Every function of src/api is called once for each wrong value of each argument that its entry
point checks, all others right; functions that are not built are called once.  The classes are
those of the standard, written down here a second time, not taken from the checks.
"""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "src"))
import gen_api

RIGHT = {  # by kind; other kinds by the C type of the parameter
    "in_t": "memory", "out_t": "memory", "inout_t": "memory", "data_t": "memory",
    "room_t": "memory", "dest_t": "0", "source_t": "0", "root_t": "0", "rank_t": "0",
    "comm_t": "MPI_COMM_SELF", "intra_t": "MPI_COMM_SELF", "group_t": "MPI_GROUP_EMPTY",
    "comm_or_null_t": "MPI_COMM_NULL", "win_or_null_t": "MPI_WIN_NULL", "type_or_null_t": "MPI_DATATYPE_NULL",
    "op_t": "MPI_SUM", "part_op_t": "MPI_SUM", "info_t": "MPI_INFO_NULL",
    "info_live_t": "good_info", "errhandler_t": "MPI_ERRORS_RETURN", "session_t": "good_session",
    "win_t": "MPI_WIN_NULL", "file_t": "MPI_FILE_NULL", "file_or_null_t": "MPI_FILE_NULL",
    "status_t": "MPI_STATUS_IGNORE", "conversion_t": "NULL",
    "string_t": '"text"', "pointer_out_t": "memory", "pointer_in_t": "memory",
    "stream_or_null_t": "MPIX_STREAM_NULL",
}
TYPES = {
    "int": "1", "MPI_Count": "1", "MPI_Aint": "1", "MPI_Offset": "0", "void *": "memory",
    "const void *": "memory", "int *": "ints", "const int *": "ints", "MPI_Count *": "counts",
    "const MPI_Count *": "counts", "MPI_Aint *": "aints", "const MPI_Aint *": "aints",
    "char *": "text", "const char *": '"text"', "MPI_Status *": "statuses",
    "const MPI_Status *": "statuses", "MPI_Datatype": "MPI_INT", "MPI_Comm": "MPI_COMM_SELF",
    "MPI_Request": "MPI_REQUEST_NULL", "MPI_Request *": "requests",
    "const MPI_Request *": "requests", "MPI_Datatype *": "types", "const MPI_Datatype *": "types",
    "MPI_Comm *": "comms", "MPI_Group *": "groups", "MPI_Op *": "ops", "MPI_Info *": "infos",
    "MPI_Errhandler *": "errhandlers", "MPI_Session *": "sessions", "MPI_Win *": "wins",
    "MPI_File *": "files", "MPI_Message *": "messages", "MPI_Offset *": "offsets",
    "MPIX_Stream *": "streams",
}
CLASSES = {"comm": "COMM", "group": "GROUP", "type": "TYPE", "op": "OP", "info": "INFO",
           "errhandler": "ERRHANDLER", "session": "SESSION", "win": "WIN", "file": "FILE",
           "stream": "ARG"}


def wrong_handles(name, null=True):
    user = gen_api.OBJECTS[name]
    other = "MPI_COMM_WORLD" if name == "type" else "MPI_INT"
    nulls = [gen_api.NULLS.get(name, "MPI_%s_NULL" % name.upper())] if null else []
    return [(v, CLASSES[name]) for v in nulls + ["(%s)0" % user, "(%s)0x7890" % user,
                                                 "(%s)%s" % (user, other), "(%s)freed" % user]]


def wrong_values():
    negative = [("-1", "COUNT")]
    pointer = [("NULL", "ARG")]
    buffer = [("NULL", "BUFFER"), ("MPI_IN_PLACE", "BUFFER")]
    wrong = {"count_t": negative, "whole_count_t": negative, "n_t": negative, "mine_count_t": negative,
             "root_count_t": negative, "part_count_t": negative, "large_t": negative,
             "bytes_t": [("-1", "ARG")], "length_t": [("-1", "ARG")],
             "size_arg_t": [("-1", "SIZE")], "data_t": buffer, "room_t": buffer,
             "user_function_t": pointer,
             "dest_t": [("77", "RANK"), ("MPI_ANY_SOURCE", "RANK"), ("-9", "RANK")],
             "source_t": [("77", "RANK"), ("MPI_ROOT", "RANK"), ("-9", "RANK")],
             "rank_t": [("77", "RANK"), ("MPI_PROC_NULL", "RANK")],
             "root_t": [("77", "ROOT"), ("MPI_ROOT", "ROOT"), ("MPI_PROC_NULL", "ROOT")],
             "tag_t": [("-7", "TAG"), ("MPI_ANY_TAG", "TAG")], "anytag_t": [("-7", "TAG")]}
    for kind in ("extent_out", "count_out", "unit_out", "position", "large_result", "offset_out",
                 "int_out", "flag", "aint_out", "request", "message", "type_at"):
        wrong[kind + "_t *"] = pointer
    for kind in ("status_in_t", "status_out_t", "string_t", "text_out_t", "pointer_out_t",
                 "pointer_in_t",
                 "large_out_t", "type_at_t"):
        wrong[kind] = pointer
    for name in gen_api.OBJECTS:
        wrong[name + "_out_t *"] = wrong[name + "_free_t *"] = pointer
        if name in CLASSES:
            wrong[name + "_t"] = wrong_handles(name)
    wrong["intra_t"] = wrong["inter_t"] = wrong["comm_t"]
    wrong["comm_or_null_t"] = wrong_handles("comm", null=False)
    wrong["win_or_null_t"] = wrong_handles("win", null=False)
    wrong["stream_or_null_t"] = wrong_handles("stream", null=False)[1:]  # the null handle is 0
    wrong["type_or_null_t"] = wrong_handles("type", null=False)
    wrong["inter_t"] = wrong["inter_t"] + [("MPI_COMM_SELF", "COMM")]
    wrong["info_live_t"], wrong["info_t"] = wrong["info_t"], wrong_handles("info", null=False)
    wrong["part_op_t"] = wrong["op_t"]
    wrong["ints_t"] = wrong["ints_out_t"] = wrong["ranges_t"] = pointer
    for kind in "committed_t", "mine_type_t", "root_type_t", "part_type_t":
        wrong[kind] = wrong["type_t"] + [("uncommitted", "TYPE")]
    return wrong


WRONG = wrong_values()


def right(parameter, wide):
    user = (parameter.kind.wide if wide else parameter.kind.user)
    if parameter.is_kind and parameter.type in RIGHT:
        return RIGHT[parameter.type]
    if parameter.type == "user_function_t":
        return "combine_c" if wide else "combine"
    ctype = user.replace("{n}", "").strip()
    while ctype.endswith("[]"):
        ctype = ctype[:-2].strip() + " *"
    return TYPES.get(ctype.replace("* *", "**"), "NULL")


def write_case(rows, function, suffix, wide, at, value, error, argument):
    shown = [p for p in function.parameters if (p.kind.wide if wide else p.kind.user)]
    values = [value if p is at else right(p, wide) for p in shown]
    name = function.name + suffix
    print("static int case_%d(void)\n{\n    return %s(%s);\n}" % (len(rows), name, ", ".join(values)))
    rows.append('    { "%s", "%s", "%s", %s, case_%d },' % (name, argument, value, error, len(rows)))


def write_unbuilt(rows, f, suffix, wide):
    """A function that is not built says so, but a bad handle of its object comes first."""
    owner = f.owner if f.owner and f.owner.type.split("_")[0] in ("comm", "win", "file") else None
    if f.name.startswith("MPI_File_") and owner and owner.type.startswith("comm"):
        owner = None
    for value, error in WRONG.get(owner.type, []) if owner else []:
        write_case(rows, f, suffix, wide, owner, value, "MPI_ERR_" + error, owner.name)
    if not owner or owner.type.startswith("comm"):
        write_case(rows, f, suffix, wide, None, "", "MPI_ERR_UNSUPPORTED_OPERATION", "")


def main():
    rows = []
    print("/* Written by test/api/cases.py. */")
    for chapter, functions in gen_api.every_chapter():
        for f in functions:
            if f.is_("manual") or f.tool:
                continue
            for suffix, wide in f.forms():
                if f.is_("later"):
                    write_unbuilt(rows, f, suffix, wide)
                    continue
                for p in f.parameters:
                    if not (p.kind.wide if wide else p.kind.user) or not p.is_kind:
                        continue
                    needs_inter = any(q.type == "inter_t" for q in f.parameters)
                    for value, error in WRONG.get(p.type, []):
                        if p.type == "inter_t" or not needs_inter:
                            write_case(rows, f, suffix, wide, p, value, "MPI_ERR_" + error, p.name)
    print("static const struct wrong cases[] = {\n%s\n};" % "\n".join(rows))


if __name__ == "__main__":
    main()

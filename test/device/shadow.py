#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write MPI functions that have a copy of every buffer in memory of a GPU (shadow.h).

    python3 shadow.py test/api/functions.txt > wrap.c

Linked into a program of test/conform, unchanged, they stand between it and the library.  What they leave
to the host: MPI_BOTTOM, MPI_IN_PLACE where nothing else is given, and partitioned messages."""
import re
import sys

BUFFERS = {"buf", "buffer", "sendbuf", "recvbuf", "inbuf", "outbuf", "inoutbuf"}
OTHERS = re.compile(r"MPI_(T_|File|Buffer|Comm_attach|Comm_detach|Session_attach|Session_detach|P\w+_init)")
MANY = 32  # times the count of one rank, in collectives
WAITS = {  # which parameters are the count and the requests
    "MPI_Wait": ("1", "request"), "MPI_Test": ("1", "request"),
    "MPI_Waitall": ("count", "array_of_requests"), "MPI_Testall": ("count", "array_of_requests"),
    "MPI_Waitany": ("count", "array_of_requests"), "MPI_Testany": ("count", "array_of_requests"),
    "MPI_Waitsome": ("incount", "array_of_requests"), "MPI_Testsome": ("incount", "array_of_requests")}


KNOWN = {*WAITS, "MPI_Start", "MPI_Startall", "MPI_Request_get_status", "MPI_Request_free"}


def word_of(parameter):
    return re.search(r"(\w+)(\[\])*$", parameter).group(1)


def call(name, parameters, given):
    return "P%s(%s)" % (name, ", ".join(given))


def reach(parameters, i):
    """How far the buffer that is parameter i reaches: by the next count and type, if they are plain."""
    words = [word_of(p) for p in parameters]
    if "recvcounts" in words and "op" in words:
        return "shadow_reach(shadow_sum(recvcounts, sizeof *recvcounts, comm), datatype)"
    collective = "MPI_Comm comm" in parameters and "tag" not in words and "dest" not in words
    count = next((k for k in range(i + 1, len(words)) if words[k].endswith("count")
                  and re.match(r"(int|MPI_Count) \w+$", parameters[k])), None)
    types = [k for k in range(i + 1, len(words)) if re.match(r"MPI_Datatype \w+$", parameters[k])]
    if count is None or not types or "position" in words or any("counts" in w or "sizes" in w for w in words):
        return "UNKNOWN"
    return "%s shadow_reach(%s, %s)" % (str(MANY) + " *" if collective else "", words[count], words[types[0]])


def wrapper(line):
    name, rest = line.split(": ", 1)
    result, *parameters = rest.strip().split(", ")
    words = [word_of(p) for p in parameters]
    head = "\n%s %s(%s)\n{\n" % (result, name, ", ".join(parameters))
    if name in WAITS:
        count, requests = WAITS[name]
        return head + ("    MPI_Request *noted = shadow_note(%s, %s);\n    int rc = %s;\n"
                       "    shadow_look_all(%s, noted, %s);\n    return rc;\n}\n"
                       % (count, requests, call(name, parameters, words), count, requests))
    if name in ("MPI_Start", "MPI_Startall"):
        count, requests = ("1", "request") if name == "MPI_Start" else ("count", "array_of_requests")
        return head + "    shadow_start(%s, %s);\n    return %s;\n}\n" % (
            count, requests, call(name, parameters, words))
    if name == "MPI_Request_get_status":
        return head + "    int rc = %s;\n    shadow_peek(request, *flag);\n    return rc;\n}\n" % call(
            name, parameters, words)
    if name == "MPI_Request_free":
        return head + ("    MPI_Request given = request ? *request : MPI_REQUEST_NULL;\n    int rc = %s;\n"
                       "    if (rc == MPI_SUCCESS)\n        shadow_leave(given);\n    return rc;\n}\n"
                       % call(name, parameters, words))
    buffers = [i for i, p in enumerate(parameters)
               if words[i] in BUFFERS and re.match(r"(const )?void \*\w+$", p)]
    if not buffers:
        return ""
    given = ["shadow_at(list, %s)" % w if i in buffers else w for i, w in enumerate(words)]
    adds = "".join("    shadow_add(&list, %s, %s, %d);\n" %
                   (words[i], reach(parameters, i), parameters[i].startswith("const")) for i in buffers)
    request = "request" if "MPI_Request *request" in parameters else "NULL"
    return head + "    struct shadow *list = NULL;\n" + adds + (
        "    shadow_begin(list);\n    int rc = %s;\n    shadow_end(list, %s, %d);\n    return rc;\n}\n"
        % (call(name, parameters, given), request, "_init" in name))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = [line for line in file if line.startswith("MPI_") and not OTHERS.match(line)
                 and ("buf" in line or line.split(":")[0] in KNOWN)]
    print('/* Written by test/device/shadow.py. */\n#include "shadow.h"\n' +
          "".join(wrapper(line) for line in lines), end="")


main()

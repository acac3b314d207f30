#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write what follows from the chapter headers in src/api.

A chapter header declares each function of the standard once, as the prototype of its body; the
parameter types are the kinds of src/api/kinds.h.  From these come

    --out DIR    entries_<chapter>.c (MPI_X, PMPI_X and their _c twins) and mpi_functions.h
    --man DIR    one man page per function
    --test DIR   arguments.c: every function called with each argument made wrong
    --missing    bodies that are expected (not marked `later`) and defined nowhere in src

Entry points are meant to be read: see src/generated after a build, and kinds.h for the rules.
"""
import argparse
import pathlib
import re
import textwrap

SRC = pathlib.Path(__file__).resolve().parent
WIDTH = 96
WORLD = ("anytime", "manual", "later")

# ---- the kinds: how a parameter of a body looks to the user, and what the entry point does ----
# user, wide   the parameter of MPI_X and of MPI_X_c ({n} is its name; None: there is none)
# check        statement that checks, or `type = ` expression that resolves into {n}_
# pass_        what the body gets (and pass_wide from MPI_X_c)
# store        statement after success
# bad          for test/api: (wrong value, error class); good is the right value
OBJECTS = {  # kind: (user's type, struct, null handle, error class, good handle)
    "comm": ("MPI_Comm", "comm", "MPI_COMM_NULL", "MPI_ERR_COMM", "MPI_COMM_SELF"),
    "group": ("MPI_Group", "group", "MPI_GROUP_NULL", "MPI_ERR_GROUP", "MPI_GROUP_EMPTY"),
    "type": ("MPI_Datatype", "type", "MPI_DATATYPE_NULL", "MPI_ERR_TYPE", "MPI_INT"),
    "op": ("MPI_Op", "op", "MPI_OP_NULL", "MPI_ERR_OP", "MPI_SUM"),
    "info": ("MPI_Info", "info", "MPI_INFO_NULL", "MPI_ERR_INFO", "good_info"),
    "errhandler": ("MPI_Errhandler", "errhandler", "MPI_ERRHANDLER_NULL", "MPI_ERR_ERRHANDLER",
                   "MPI_ERRORS_RETURN"),
    "session": ("MPI_Session", "session", "MPI_SESSION_NULL", "MPI_ERR_SESSION", "good_session"),
    "win": ("MPI_Win", "win", "MPI_WIN_NULL", "MPI_ERR_WIN", None),
    "file": ("MPI_File", "file", "MPI_FILE_NULL", "MPI_ERR_FILE", None),
    "request": ("MPI_Request", "request", "MPI_REQUEST_NULL", "MPI_ERR_REQUEST", None),
}
OWNERS = ("comm", "intra", "inter", "session", "win", "file", "file_or_null")
NULL_POINTER = [("NULL", "MPI_ERR_ARG")]


class Kind:
    def __init__(self, user, wide="", check="", pass_="{n}", pass_wide="", store="", bad=(),
                 good="", first=2):
        self.user, self.wide = user, wide if wide != "" else user
        self.check, self.store, self.first = check, store, first
        self.pass_, self.pass_wide = pass_, pass_wide or pass_
        self.bad, self.good = bad, good


def same_check(name, *more):
    return "check_%s(&e, %s{n}, \"{n}\");" % (name, "".join(m + ", " for m in more))


def pointer(user, wide="", **more):
    return Kind(user, wide, check=same_check("pointer"), bad=NULL_POINTER, **more)


def number(type_, bad, check, good="1", wide="", **more):
    return Kind(type_ + " {n}", wide and wide + " {n}", check=check, bad=bad, good=good, **more)


def narrowed(ctype):
    return Kind(ctype + " *{n}", check="int64_t {n}_ = 0;\n" + same_check("pointer"),
                pass_="&{n}_", store="*{n} = narrow({n}_);", bad=NULL_POINTER)


def resolved(what, user, struct, bad, good, guard="", first=2):
    call = "check_%s(&e, {n}, \"{n}\")" % what
    check = "struct %s *{n}_ = %s;" % (struct, (guard + " ? " + call + " : NULL") if guard else call)
    return Kind(user + " {n}", check=check, pass_="{n}_", bad=bad, good=good, first=first)


def kinds():
    k = {
        "in_t": Kind("const void *{n}", good="memory"),
        "out_t": Kind("void *{n}", good="memory"),
        "inout_t": Kind("void *{n}", good="memory"),
        "data_t": Kind("const void *{n}", check="check_data(&e, {n}, {next}, {next2}_, \"{n}\");",
                       bad=[("NULL", "MPI_ERR_BUFFER")], good="memory", first=3),
        "bytes_t": number("int", [("-1", "MPI_ERR_ARG")], same_check("length"), wide="MPI_Count"),
        "count_t": number("int", [("-1", "MPI_ERR_COUNT")], same_check("count"), wide="MPI_Count"),
        "wide_t": Kind("int {n}", "MPI_Count {n}", good="1"),
        "position_t *": Kind("int *{n}", "MPI_Count *{n}",
                             check="int64_t {n}_ = check_position(&e, {n}, \"{n}\");",
                             pass_="&{n}_", store="*{n} = narrow({n}_);", bad=NULL_POINTER),
        "counts_t": Kind("const int {n}[]", "const MPI_Count {n}[]", good="ints",
                         pass_="(struct counts){ .narrow = {n} }",
                         pass_wide="(struct counts){ .wide = {n} }"),
        "extent_t": Kind("MPI_Aint {n}", "MPI_Count {n}", good="4"),
        "extent_out_t *": pointer("MPI_Aint *{n}", "MPI_Count *{n}"),
        "extents_t": Kind("const MPI_Aint {n}[]", "const MPI_Count {n}[]", good="aints"),
        "unit_t": number("int", [("0", "MPI_ERR_DISP")], same_check("unit"), wide="MPI_Aint"),
        "large_t": Kind(None, "MPI_Count {n}", check=same_check("count"), pass_="0", pass_wide="{n}"),
        "large_out_t": Kind(None, "MPI_Count *{n}", check=same_check("pointer"), pass_="NULL",
                            pass_wide="{n}"),
        "large_array_t": Kind(None, "MPI_Count {n}[]", pass_="NULL", pass_wide="{n}"),
        "length_t": number("int", [("-1", "MPI_ERR_ARG")], same_check("length")),
        "n_t": number("int", [("-1", "MPI_ERR_COUNT")], same_check("count")),
        "aint_t": Kind("MPI_Aint {n}", good="0"),
        "size_arg_t": number("MPI_Aint", [("-1", "MPI_ERR_SIZE")], same_check("size")),
        "status_t": Kind("MPI_Status *{n}", good="MPI_STATUS_IGNORE"),
        "status_in_t": pointer("const MPI_Status *{n}"),
        "status_out_t": pointer("MPI_Status *{n}"),
        "request_t *": pointer("MPI_Request *{n}"),
        "message_t *": pointer("MPI_Message *{n}"),
        "string_t": pointer("const char *{n}"),
        "text_out_t": pointer("char *{n}"),
        "pointer_out_t": pointer("void *{n}"),
        "target_rank_t": Kind("int {n}", good="0"),
        "file_or_null_t": Kind("MPI_File {n}", pass_="{n}_", good="MPI_FILE_NULL", first=0,
                               check="struct file *{n}_ = check_file_or_null(&e, {n}, \"{n}\");"),
    }
    k["room_t"] = Kind("void *{n}", check=k["data_t"].check, bad=k["data_t"].bad, good="memory",
                       first=3)
    k["displs_t"] = Kind("const int {n}[]", "const MPI_Aint {n}[]", good="ints",
                         pass_=k["counts_t"].pass_, pass_wide=k["counts_t"].pass_wide)
    for name, user in (("large_result", "MPI_Count"), ("offset_out", "MPI_Offset"),
                       ("int_out", "int"), ("flag", "int"), ("aint_out", "MPI_Aint")):
        k[name + "_t *"] = pointer(user + " *{n}")
    for name, user, wide in (("count_out", "int", "MPI_Count"), ("unit_out", "int", "MPI_Aint")):
        k[name + "_t *"] = narrowed(user)
        k[name + "_t *"].wide = wide + " *{n}"
        k[name + "_t *"].pass_wide = "{n}"
    for name, bad in (("user", [("NULL", "MPI_ERR_ARG")]), ("conversion", [])):
        user = {"user": "MPI_User", "conversion": "MPI_Datarep_conversion"}[name] + "_function"
        k[{"user": "user_function_t", "conversion": "conversion_t"}[name]] = Kind(
            user + " *{n}", user + "_c *{n}", bad=bad, good="NULL",
            check="check_function(&e, {n} != NULL, \"{n}\");" if bad else "",
            pass_="(struct %s_function){ .narrow = {n} }" % name,
            pass_wide="(struct %s_function){ .wide = {n} }" % name)
    for name, error, good in (("dest", "RANK", "0"), ("source", "RANK", "0"), ("rank", "RANK", "0"),
                              ("root", "ROOT", "0")):
        k[name + "_t"] = number("int", [("77", "MPI_ERR_" + error), ("-9", "MPI_ERR_" + error)],
                                same_check(name, "{comm}"), good, first=1)
    for name in "tag", "anytag":
        k[name + "_t"] = number("int", [("-7", "MPI_ERR_TAG")], same_check(name))
    for name, (user, struct, null, error, good) in OBJECTS.items():
        bad = [(null, error), ("(%s)0x7890" % user, error)]
        first = 0 if name in OWNERS else 2
        if name != "request":
            k[name + "_t"] = resolved(name, user, struct, bad, good, first=first)
            k[name + "_free_t *"] = Kind(
                user + " *{n}", pass_="&{n}_", first=first, bad=NULL_POINTER,
                check="struct %s *{n}_ = check_%s_at(&e, {n}, \"{n}\");" % (struct, name),
                store="*{n} = %s;" % null)
        k[name + "_out_t *"] = Kind(
            user + " *{n}", check="struct %s *{n}_ = NULL;\n" % struct + same_check("pointer"),
            pass_="&{n}_", store="*{n} = %s_handle({n}_);" % name, bad=NULL_POINTER)
    user, struct, null, error, good = OBJECTS["comm"]
    k["intra_t"] = resolved("intra", user, struct, k["comm_t"].bad, good, first=0)
    k["inter_t"] = resolved("inter", user, struct, k["comm_t"].bad + [(good, error)], None, first=0)
    user, struct, null, error, good = OBJECTS["type"]
    bad = k["type_t"].bad
    uncommitted = bad + [("uncommitted", error)]
    k["committed_t"] = resolved("committed", user, struct, uncommitted, good)
    k["type_at_t"] = Kind(user + " *{n}", pass_="{n}_", bad=NULL_POINTER,
                          check="struct type *{n}_ = check_type_at(&e, {n}, \"{n}\");")
    k["info_live_t"] = k["info_t"]
    k["info_live_t"] = resolved("info_live", "MPI_Info", "info", k["info_t"].bad, "good_info")
    k["info_t"].bad, k["info_t"].good = k["info_t"].bad[1:], "MPI_INFO_NULL"
    for where, guard in (("mine", "{mine}"), ("root", "at_root"), ("part", "takes_part")):
        k[where + "_count_t"] = number(
            "int", k["count_t"].bad, "if (%s)\n    check_count(&e, {n}, \"{n}\");" % guard,
            wide="MPI_Count")
        k[where + "_count_t"].pass_ = k[where + "_count_t"].pass_wide = "%s ? {n} : 0" % guard
        k[where + "_type_t"] = resolved("committed", user, struct, uncommitted, good, guard)
    k["part_op_t"] = resolved("op", "MPI_Op", "op", k["op_t"].bad, "MPI_SUM", "takes_part")
    return k


KINDS = kinds()


class Parameter:
    def __init__(self, text):
        text = " ".join(text.split())
        self.type, self.name, self.array = re.fullmatch(r"(.*?)(\w+)((?:\[\d*\])*)", text).groups()
        self.type = self.type.strip()
        known = None if self.array else KINDS.get(self.type)
        self.is_kind = known is not None
        self.kind = known or Kind((self.type + " {n}" + self.array).replace("* {", "*{"))

    def owner(self):
        base = self.type.removesuffix(" *").removesuffix("_t").removesuffix("_free")
        return self.is_kind and not self.type.endswith("_out_t *") and base in OWNERS


class Function:
    def __init__(self, comment, words, result, name, parameters):
        self.comment = " ".join(comment.replace("\n *", " ").split())
        self.words, self.result, self.body = words.split(), result, name
        self.name = name if name.startswith("MPI_") else mpi_name(name)
        self.parameters = [] if parameters.strip() == "void" else (
            [parameters] if "..." in parameters else [Parameter(p) for p in parameters.split(",")])
        self.raw = parameters
        if "manual" not in self.words:
            self.owner = next((p for p in self.parameters if p.owner()), None)
            self.tool = self.name.startswith("MPI_T_")

    def has_twin(self):
        return "manual" not in self.words and any(
            p.kind.user != p.kind.wide for p in self.parameters)

    def forms(self):
        return [("", False), ("_c", True)] if self.has_twin() else [("", False)]

    def is_(self, word):
        return word in self.words


def mpi_name(body):
    name = body.removeprefix("xmpi_")
    return "MPI_" + name[0].upper() + name[1:]


PROTOTYPE = re.compile(r"/\*((?:(?!\*/).)*?)\*/\s*((?:(?:%s)\s+)*)(\w+)\s+(xmpi_\w+|MPI_\w+)"
                       r"\(([^;]*)\);" % "|".join(WORLD), re.S)


def chapters():
    for path in sorted((SRC / "api").glob("*.h")):
        if path.stem != "kinds":
            yield path.stem, [Function(*m) for m in PROTOTYPE.findall(path.read_text())]


def write(path, lines):
    """Files that would not change keep their time, so that make leaves them alone."""
    text = "\n".join(lines)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


# ---- prototypes ----
def fill(start, arguments):
    """A declaration or call, broken behind commas."""
    whole = start + arguments.replace(" ", "\0").replace(",\0", ", ")
    wrapped = textwrap.wrap(whole.replace(start, start.replace(" ", "\0")), WIDTH,
                            subsequent_indent=" " * len(start), break_long_words=False,
                            break_on_hyphens=False)
    return [line.replace("\0", " ") for line in wrapped]


def declaration(function, prefix, suffix, wide):
    name = prefix + function.name + suffix
    if function.is_("manual"):
        parameters = " ".join(function.raw.split())
    else:
        users = [(p.kind.wide if wide else p.kind.user, p.name) for p in function.parameters]
        parameters = ", ".join(u.replace("{n}", n) for u, n in users if u) or "void"
    return "\n".join(fill("%s %s(" % (function.result, name), parameters + ")"))


def write_prototypes(out):
    lines = ["/* SPDX-License-Identifier: BSD-3-Clause", " *",
             " * The functions of MPI 5.0, written by src/gen_api.py; included by mpi.h.  Each exists",
             " * twice: a profiling library may define MPI_X itself and call PMPI_X.", " */", ""]
    for prefix in "", "P":
        for chapter, functions in chapters():
            lines.append("/* ---- %s ---- */" % chapter)
            for f in functions:
                lines += [declaration(f, prefix, s, wide) + ";" for s, wide in f.forms()]
            lines.append("")
    write(out / "mpi_functions.h", lines)


# ---- entry points ----
class Entry:
    """One entry point as lines of C."""

    def __init__(self, function, suffix, wide):
        self.f, self.wide = function, wide
        self.name = function.name + suffix
        self.checked = sorted((p for p in function.parameters if p.is_kind),
                              key=lambda p: p.kind.first)
        self.after = function.parameters

    def expand(self, parameter, text):
        at = self.f.parameters.index(parameter)
        names = [p.name for p in self.f.parameters] + ["", ""]
        owner = self.f.owner.name + "_" if self.f.owner else "NULL"
        buffer_ = next((p.name for p in reversed(self.f.parameters[:at])
                        if p.type in ("in_t", "out_t", "inout_t")), "")
        mine = buffer_ + "_is_mine"
        for key, value in (("{n}", parameter.name), ("{next}", names[at + 1]), ("{comm}", owner),
                           ("{next2}", names[at + 2]), ("{mine}", mine)):
            text = text.replace(key, value)
        return text

    def conditions(self):
        """Variables for the arguments of collectives that only some processes look at."""
        types = [p.type for p in self.f.parameters]
        rooted = "root_t" in types
        comm = self.f.owner.name + "_" if self.f.owner else ""
        if any(t.startswith("root_") and t != "root_t" for t in types):
            yield "bool at_root = is_root(%s, root);" % comm
        if any(t.startswith("part_") for t in types):
            yield "bool takes_part = !is_bystander(%s, root);" % comm
        for p in self.f.parameters:
            if p.type == "mine_type_t":
                buffer_ = self.expand(p, "{mine}").removesuffix("_is_mine")
                yield "bool %s_is_mine = %s != MPI_IN_PLACE%s;" % (
                    buffer_, buffer_, " && is_leaf(%s, root)" % comm if rooted else "")

    def checks(self):
        conditions = list(self.conditions())
        for p in self.checked:
            if p.kind.first >= 2 and conditions:
                yield from conditions
                conditions = []
            check = p.kind.check
            if self.wide and p.kind.pass_wide != p.kind.pass_ and "int64_t {n}_ = 0;" in check:
                check = same_check("pointer")
            if self.wide and p.type == "position_t *":
                check = check.replace("check_position", "check_position_c")
            if (p.kind.wide if self.wide else p.kind.user) and check:
                yield from self.expand(p, check).split("\n")

    def arguments(self):
        return ", ".join(self.expand(p, p.kind.pass_wide if self.wide else p.kind.pass_)
                         for p in self.f.parameters)

    def stores(self):
        for p in self.f.parameters:
            store = p.kind.store
            if self.wide and "narrow(" in store:
                store = "*{n} = {n}_;" if p.type == "position_t *" else ""
            if store:
                yield self.expand(p, store)

    def owner(self):
        """Whose error handler is called."""
        owner = self.f.owner.name + "_" if self.f.owner else "NULL"
        if self.f.name.startswith("MPI_File_"):
            return "file_owner(%s)" % (owner if "file" in self.f.owner.type else "NULL"
                                       ) if self.f.owner else "file_owner(NULL)"
        return owner

    def lines(self):
        yield declaration(self.f, "P", self.name.removeprefix(self.f.name), self.wide)
        yield "{"
        how = "_tool" if self.f.tool else "_anytime" if self.f.is_("anytime") else ""
        yield "    struct entry e = enter%s(\"%s\");" % (how, self.name)
        owner = self.owner()
        if self.f.is_("later"):
            if self.f.owner and self.f.owner.name + "_" in owner:
                yield "    " + self.expand(self.f.owner, self.f.owner.kind.check)
            yield "    return leave_unbuilt(&e, %s);" % owner
        else:
            yield from ("    " + c for c in self.checks())
            yield "    if (e.rc == MPI_SUCCESS)"
            yield from fill("        e.rc = %s(" % self.f.body, self.arguments() + ");")
            stores = list(self.stores())
            if stores:
                yield "    if (e.rc == MPI_SUCCESS)" + (" {" if len(stores) > 1 else "")
                yield from ("        " + s for s in stores)
                if len(stores) > 1:
                    yield "    }"
            yield "    return leave_tool(&e);" if self.f.tool else "    return leave(&e, %s);" % owner
        yield "}"
        yield "ALIAS(%s, P%s);" % (self.name, self.name)
        yield ""




def write_entries(out):
    for chapter, functions in chapters():
        lines = ["/* SPDX-License-Identifier: BSD-3-Clause", " *",
                 " * Entry points written by src/gen_api.py from src/api/%s.h: check and resolve" % chapter,
                 " * the arguments, call the body, leave through the error handler.", " */",
                 "#include \"src/checks.h\"", "#include \"src/api/%s.h\"" % chapter, "",
                 "#pragma GCC visibility push(default)",
                 "/* Functions that are not built do not look at their arguments. */",
                 "#pragma GCC diagnostic ignored \"-Wunused-parameter\"", ""]
        for f in functions:
            if not f.is_("manual"):
                for suffix, wide in f.forms():
                    if not suffix:
                        lines += textwrap.wrap("/* " + f.comment + " */", WIDTH,
                                               subsequent_indent=" * ")
                    lines += Entry(f, suffix, wide).lines()
        write(out / ("entries_%s.c" % chapter), lines)


# ---- man pages ----
def kind_sentences():
    text = (SRC / "api" / "kinds.h").read_text()
    found = re.findall(r"^typedef [^;]*?(\w+);\s*/\*(.*?)\*/", text, re.M | re.S)
    return {name: " ".join(comment.split()) for name, comment in found}


def man_page(f, chapter, sentences):
    text = [".TH %s 3 \"\" \"xmpi\" \"MPI 5.0\"" % f.name, ".SH NAME",
            "%s \\- %s" % (f.name, f.comment.split(". ")[0].split("; ")[0].rstrip(".")),
            ".SH SYNOPSIS", ".nf", "#include <mpi.h>", ""]
    text += [declaration(f, "", s, wide) + ";\n" for s, wide in f.forms()]
    text += [".fi", ".SH DESCRIPTION", f.comment]
    if f.is_("later"):
        text += ["This function is not built yet: it raises MPI_ERR_UNSUPPORTED_OPERATION."]
    told = [(p.name, sentences.get(p.type.removesuffix(" *"))) for p in f.parameters
            if not f.is_("manual") and p.is_kind]
    if any(sentence for _, sentence in told):
        text.append(".SH ARGUMENTS")
        text += [".TP\n.I %s\n%s" % (name, sentence) for name, sentence in told if sentence]
    text += [".SH SEE ALSO", "The MPI standard, version 5.0, chapter on %s." % chapter, ""]
    return "\n".join(text)


def write_man(out):
    sentences = kind_sentences()
    for chapter, functions in chapters():
        for f in functions:
            write(out / (f.name + ".3"), [man_page(f, chapter, sentences)])
            if f.has_twin():
                write(out / (f.name + "_c.3"), [".so man3/%s.3" % f.name, ""])


# ---- what is missing, and the command line ----
def missing():
    sources = "\n".join(p.read_text() for p in SRC.glob("*.c"))
    for chapter, functions in chapters():
        for f in functions:
            name = "P" + f.name if f.is_("manual") else f.body
            name = re.sub(r"PMPI_(\w+)_(to|from)int", r"AS_INTEGER(\1", name)  # manual.c
            defined = re.search(r"^\w[^;{=]*\b%s\(|^%s," % ((re.escape(name),) * 2), sources, re.M)
            if not f.is_("later") and not defined:
                print("%-12s %s" % (chapter, f.body))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    writers = {"out": (write_prototypes, write_entries), "man": (write_man,)}
    for option in writers:
        parser.add_argument("--" + option, type=pathlib.Path, metavar="DIR")
    parser.add_argument("--missing", action="store_true")
    arguments = parser.parse_args()
    for option, functions in writers.items():
        directory = getattr(arguments, option)
        if directory:
            directory.mkdir(parents=True, exist_ok=True)
            for writer in functions:
                writer(directory)
    if arguments.missing:
        missing()


if __name__ == "__main__":
    main()

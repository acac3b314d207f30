#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write what follows from the chapter headers in src/api.

A chapter header declares each function of the standard once, as the prototype of its body; the
parameter types are the kinds of src/api/kinds.h.  From these come

    --out DIR    entries_<chapter>.c (MPI_X, PMPI_X and their _c twins), mpi_functions.h, and
                 mpix_functions.h for extensions, which are MPIX_X alone
    --missing    bodies that are expected (not marked `later`) and defined nowhere in src

Entry points are meant to be read: see src/generated after a build, and kinds.h for the rules.
"""
import argparse
import pathlib
import re
import textwrap

SRC = pathlib.Path(__file__).resolve().parent
WIDTH = 96
WORLD = ("anytime", "manual", "later", "solo", "quick", "recalled")

# ---- the kinds: how a parameter of a body looks to the user, and what the entry point does ----
# OBJECTS: name of the object, the user's type; OWNERS: arguments whose error handler is called.
OBJECTS = {"comm": "MPI_Comm", "group": "MPI_Group", "type": "MPI_Datatype", "op": "MPI_Op",
           "info": "MPI_Info", "errhandler": "MPI_Errhandler", "session": "MPI_Session",
           "win": "MPI_Win", "file": "MPI_File", "request": "MPI_Request",
           "stream": "MPIX_Stream"}
COMMITTED = tuple(where + "_t" for where in ("committed", "mine_type", "root_type", "part_type"))
NULLS = {"type": "MPI_DATATYPE_NULL", "stream": "MPIX_STREAM_NULL"}
EXTENSIONS = {"fusion", "stream"}  # chapters that are not MPI's
OWNERS = {"comm": "comm", "intra": "comm", "inter": "comm", "session": "session", "win": "win",
          "file": "file", "file_or_null": "file", "comm_or_null": "comm",
          "win_or_null": "win"}


class Kind:
    """user, wide: the parameter of MPI_X and of MPI_X_c, {n} is its name, None: there is none.
    check, check_wide: statements before the call.  give, give_wide: what the body gets.
    store: a statement after success, of MPI_X only when narrow.  undone: what the user's variable
    is after failure, empty: what it was before.  turn: order of the checks.  twin: there is an MPI_X_c."""

    def __init__(self, user, wide="", check="", give="{n}", give_wide="", store="", turn=2,
                 check_wide=None, narrow=False, undone="", twin=False):
        self.user, self.wide = user, wide or user
        self.twin = twin or self.user != self.wide
        self.check, self.check_wide = check, check if check_wide is None else check_wide
        self.give, self.give_wide = give, give_wide or give
        self.store, self.store_wide = store, "" if narrow else store
        self.turn, self.undone = turn, undone


def checked(name, *more):
    return "check_%s(&e, %s{n}, \"{n}\");" % (name, "".join(m + ", " for m in more))


def resolved(what, user, struct, guard="", turn=2):
    call = checked(what)[:-1]
    return Kind((user + " {n}").replace("* ", "*"), give="{n}_", turn=turn, check="struct %s *{n}_ = %s;" % (
        struct, guard + " ? " + call + " : NULL" if guard else call))


def narrowed(wide):
    """A result that MPI_X returns as an int: the body writes to a variable in between."""
    return Kind("int *{n}", wide + " *{n}", "%s {n}_ = 0;\n" % wide + checked("pointer"), "&{n}_",
                "{n}", "*{n} = narrow({n}_);", check_wide=checked("pointer"), narrow=True)


def two_forms(narrow, wide, struct, check=""):
    return Kind(narrow, wide, check, "(struct %s){ .narrow = {n} }" % struct,
                "(struct %s){ .wide = {n} }" % struct)


def number_kinds():
    data = "check_data(&e, {n}, {next}, {next2}_, \"{n}\");"
    array = checked("array", "{length}")
    position = "int64_t {n}_ = " + checked("position")
    function = checked("function").replace("{n},", "{n} != NULL,", 1)
    conversion = "MPI_Datarep_conversion_function"
    return {
        "in_t": Kind("const void *{n}"),
        "out_t": Kind("void *{n}"),
        "inout_t": Kind("void *{n}"),
        "data_t": Kind("const void *{n}", check=data, turn=3),
        "room_t": Kind("void *{n}", check=data, turn=3),
        "count_t": Kind("int {n}", "MPI_Count {n}", checked("count")),
        "whole_count_t": Kind("MPI_Count {n}", check=checked("count"), twin=True),
        "bytes_t": Kind("int {n}", "MPI_Count {n}", checked("length")),
        "wide_t": Kind("int {n}", "MPI_Count {n}"),
        "unit_t": Kind("int {n}", "MPI_Aint {n}", checked("unit")),
        "extent_t": Kind("MPI_Aint {n}", "MPI_Count {n}"),
        "extent_out_t *": Kind("MPI_Aint *{n}", "MPI_Count *{n}", checked("pointer")),
        "extents_t": Kind("const MPI_Aint {n}[]", "const MPI_Count {n}[]"),
        "counts_t": two_forms("const int {n}[]", "const MPI_Count {n}[]", "counts"),
        "displs_t": two_forms("const int {n}[]", "const MPI_Aint {n}[]", "counts"),
        "count_out_t *": narrowed("MPI_Count"),
        "unit_out_t *": narrowed("MPI_Aint"),
        "position_t *": Kind("int *{n}", "MPI_Count *{n}", position, "&{n}_", "{n}",
                             "*{n} = narrow({n}_);", check_wide=checked("position_c"), narrow=True),
        "large_t": Kind(None, "MPI_Count {n}", checked("count"), "0", "{n}"),
        "large_out_t": Kind(None, "MPI_Count *{n}", checked("pointer"), "NULL", "{n}"),
        "large_array_t": Kind(None, "MPI_Count {n}[]", "", "NULL", "{n}"),
        "is_large_t": Kind(None, None, "", "false", "true"),
        "length_t": Kind("int {n}", check=checked("length")),
        "n_t": Kind("int {n}", check=checked("count")),
        "aint_t": Kind("MPI_Aint {n}"),
        "size_arg_t": Kind("MPI_Aint {n}", check=checked("size")),
        "status_t": Kind("MPI_Status *{n}"),
        "target_rank_t": Kind("int {n}"),
        "ints_t": Kind("const int {n}[]", check=array, turn=3),
        "ints_out_t": Kind("int {n}[]", check=array, turn=3),
        "ranges_t": Kind("int {n}[][3]", check=array, turn=3),
        "tag_t": Kind("int {n}", check=checked("tag")),
        "anytag_t": Kind("int {n}", check=checked("anytag")),
        "user_function_t": two_forms("MPI_User_function *{n}", "MPI_User_function_c *{n}",
                                     "user_function", function),
        "conversion_t": two_forms(conversion + " *{n}", conversion + "_c *{n}",
                                  "conversion_function"),
    }


def kinds():
    k = number_kinds()
    for name, user in (("large_result_t *", "MPI_Count"), ("offset_out_t *", "MPI_Offset"),
                       ("int_out_t *", "int"), ("flag_t *", "int"), ("aint_out_t *", "MPI_Aint"),
                       ("status_in_t", "const MPI_Status"), ("status_out_t", "MPI_Status"),
                       ("request_t *", "MPI_Request"), ("message_t *", "MPI_Message"),
                       ("string_t", "const char"), ("text_out_t", "char"), ("pointer_out_t", "void"),
                       ("pointer_in_t", "const void")):
        k[name] = Kind(user + " *{n}", check=checked("pointer"))
    for name in "dest", "source", "rank", "root":
        k[name + "_t"] = Kind("int {n}", check=checked(name, "{comm}"), turn=1)
    for name, user in OBJECTS.items():
        turn = 0 if name in OWNERS else 2
        null = NULLS.get(name, "MPI_%s_NULL" % name.upper())
        k[name + "_t"] = resolved(name, user, name, turn=turn)
        k[name + "_free_t *"] = Kind(
            user + " *{n}", check="struct %s *{n}_ = " % name + checked(name + "_at"), give="&{n}_",
            store="*{n} = %s;" % null, turn=turn)
        k[name + "_out_t *"] = Kind(
            user + " *{n}", check="struct %s *{n}_ = NULL;\n" % name + checked("pointer"),
            give="&{n}_", store="*{n} = %s_handle({n}_);" % name,
            undone="MPI_COMM_NULL" if name == "comm" else "")
    for name in "intra", "inter":
        k[name + "_t"] = resolved(name, "MPI_Comm", "comm", turn=0)
    k["committed_t"] = resolved("committed", "MPI_Datatype", "type")
    k["type_at_t"] = resolved("type_at", "MPI_Datatype *", "type")
    k["info_live_t"] = resolved("info_live", "MPI_Info", "info")
    k["file_or_null_t"] = resolved("file_or_null", "MPI_File", "file", turn=0)
    k["win_or_null_t"] = resolved("win_or_null", "MPI_Win", "win", turn=0)
    k["comm_or_null_t"] = resolved("comm_or_null", "MPI_Comm", "comm", turn=0)
    k["stream_or_null_t"] = resolved("stream_or_null", "MPIX_Stream", "stream")
    k["type_or_null_t"] = resolved("type_or_null", "MPI_Datatype", "type")
    for where, guard in (("mine", "{mine}"), ("root", "at_root"), ("part", "takes_part")):
        k[where + "_count_t"] = Kind("int {n}", "MPI_Count {n}", give=guard + " ? {n} : 0",
                                     check="if (%s)\n    %s" % (guard, checked("count")))
        k[where + "_type_t"] = resolved("committed", "MPI_Datatype", "type", guard)
    k["part_op_t"] = resolved("op", "MPI_Op", "op", "takes_part")
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
        return OWNERS.get(base) if self.is_kind and "_out_t" not in self.type else None


class Function:
    def __init__(self, comment, words, result, name, parameters):
        self.comment = " ".join(comment.replace("\n *", " ").split())
        self.words, self.result, self.body = words.split(), result, name
        self.name = name if name.startswith(("MPI_", "MPIX_")) else mpi_name(name)
        self.prefix = "" if self.name.startswith("MPIX_") else "P"
        self.parameters = [] if parameters.strip() == "void" else (
            [parameters] if "..." in parameters else [Parameter(p) for p in parameters.split(",")])
        self.raw = parameters
        if "manual" not in self.words:
            self.owner = next((p for p in self.parameters if p.owner()), None)
            self.tool = self.name.startswith("MPI_T_")

    def has_twin(self):
        return "manual" not in self.words and any(p.kind.twin for p in self.parameters)

    def forms(self):
        return [("", False), ("_c", True)] if self.has_twin() else [("", False)]

    def is_(self, word):
        return word in self.words


def mpi_name(body):
    family, name = body.split("_", 1)
    return family[1:].upper() + "_" + name[0].upper() + name[1:]


PROTOTYPE = re.compile(r"/\*((?:(?!\*/).)*?)\*/\s*((?:(?:%s)\s+)*)(\w+)\s+(xmpix?_\w+|MPIX?_\w+)"
                       r"\(([^;]*)\);" % "|".join(WORLD), re.S)


def chapters(extensions=False):
    """Those of the standard, or the others."""
    for path in sorted((SRC / "api").glob("*.h")):
        if path.stem != "kinds" and (path.stem in EXTENSIONS) == extensions:
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


def every_chapter():
    yield from chapters()
    yield from chapters(extensions=True)


def write_extensions(out):
    lines = ["/* SPDX-License-Identifier: BSD-3-Clause", " *",
             " * Functions beyond MPI 5.0, written by src/gen_api.py; included by mpix.h.", " */"]
    for _, functions in chapters(extensions=True):
        for f in functions:
            lines += [""] + textwrap.wrap("/* " + f.comment + " */", WIDTH, subsequent_indent=" * ")
            lines += [declaration(f, "", s, wide) + ";" for s, wide in f.forms()]
    write(out / "mpix_functions.h", lines + [""])


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
                              key=lambda p: p.kind.turn)

    def expand(self, parameter, text):
        at = self.f.parameters.index(parameter)
        names = [p.name for p in self.f.parameters] + ["", ""]
        owner = self.f.owner.name + "_" if self.f.owner else "NULL"
        buffer_ = next((p.name for p in reversed(self.f.parameters[:at])
                        if p.type in ("in_t", "out_t", "inout_t")), "")
        mine = buffer_ + "_is_mine"
        length = next((p.name for p in reversed(self.f.parameters[:at]) if p.type == "length_t"), "")
        for key, value in (("{n}", parameter.name), ("{next}", names[at + 1]), ("{comm}", owner),
                           ("{next2}", names[at + 2]), ("{mine}", mine), ("{length}", length)):
            text = text.replace(key, value)
        return self.for_peer(at, text) if parameter.type == "committed_t" else text

    def for_peer(self, at, text):
        """The datatype of a message with one peer: nobody's, when that is MPI_PROC_NULL."""
        types = [p.type for p in self.f.parameters]
        peers = [p for p in self.f.parameters[at:] if p.type in ("dest_t", "source_t")]
        if not peers or types.count("committed_t") < types.count("dest_t") + types.count("source_t"):
            return text
        return text.replace("check_committed(&e, ", "check_peer_type(&e, %s, " % peers[0].name)

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
            if p.kind.turn >= 2:
                yield from conditions
                conditions = []
            check = p.kind.check_wide if self.wide else p.kind.check
            if check and (p.kind.wide if self.wide else p.kind.user):
                yield from self.expand(p, check).split("\n")
        yield from self.check_products()

    def check_products(self):
        """A count and the datatype that follows it."""
        for p, follower in zip(self.f.parameters, self.f.parameters[1:]):
            if p.type.endswith("count_t") and follower.type in COMMITTED:
                yield self.expand(p, checked("bytes", "{next}_"))

    def arguments(self):
        return ", ".join(self.expand(p, p.kind.give_wide if self.wide else p.kind.give)
                         for p in self.f.parameters)

    def stores(self):
        for p in self.f.parameters:
            store = p.kind.store_wide if self.wide else p.kind.store
            if store:
                yield self.expand(p, store)

    def owner(self):
        """Whose error handler is called; what makes an object with a handler asks that one."""
        given = [p.name + "_" for p in self.f.parameters if p.type == "errhandler_t"] + ["NULL"]
        owner = self.f.owner.name + "_" if self.f.owner else given[0]
        if self.f.name.startswith("MPI_File_"):
            return "file_owner(%s)" % (owner if "file" in self.f.owner.type else "NULL"
                                       ) if self.f.owner else "file_owner(NULL)"
        return owner

    def owner_check(self, owner):
        """Of a function that is not built: a bad window is an error of its own class."""
        if self.f.owner and self.f.owner.name + "_" in owner:
            start = "struct %s *%s_ =" % (self.f.owner.owner(), self.f.owner.name)
            yield from ("    " + c for c in self.checks() if c.startswith(start))

    def solo(self):
        """Which engine: that of the communicator, of the request or of the first of the requests."""
        if self.f.owner:
            return "_comm", ", " + self.f.owner.name
        if any(p.type == "request_t *" for p in self.f.parameters):
            return "_request", ", request"
        return "_requests", ", count, array_of_requests"

    def names(self):
        """The arguments as the user gave them, to hand on."""
        return "(%s)" % ", ".join(p.name for p in self.f.parameters)

    def has_short(self):
        return self.f.is_("quick") or self.f.is_("recalled")

    def short(self):
        """The entry point of a function that has a short way: all else is another function."""
        names = self.names()
        yield declaration(self.f, self.f.prefix, self.name.removeprefix(self.f.name), self.wide)
        yield "{"
        yield "    record_enter(\"%s\", __builtin_return_address(0));" % self.name
        if self.f.is_("quick"):
            yield "    int rc = threads_are_many() ? QUICK_NOT"
            yield "                                : %s_quick%s;" % (self.f.body, names)
            yield "    return rc != QUICK_NOT ? rc : any_%s%s;" % (self.name, names)
        else:
            yield "    struct again *again = %s_recalled%s;" % (self.f.body, names)
            yield "    return again ? again_call(again) : any_%s%s;" % (self.name, names)
        yield "}"

    def lines(self):
        if self.has_short():
            suffix = self.name.removeprefix(self.f.name)
            yield "static __attribute__((noinline)) " + declaration(self.f, "any_", suffix, self.wide)
        else:
            yield declaration(self.f, self.f.prefix, self.name.removeprefix(self.f.name), self.wide)
        yield "{"
        how = "_tool" if self.f.tool else "_anytime" if self.f.is_("anytime") else ""
        more = ""
        if self.f.is_("solo"):
            how, more = self.solo()
        if self.has_short():
            how += "_told"
        yield "    struct entry e = enter%s(\"%s\"%s);" % (how, self.name, more)
        owner = self.owner()
        if self.f.is_("quick"):
            yield "    if (e.locked && !engine_is_solo() && %s_shared%s != QUICK_NOT)" % (
                self.f.body, self.names())
            yield "        return leave(&e, NULL);"
        if self.f.is_("later"):
            yield from self.owner_check(owner)
            yield "    return leave_unbuilt(&e, %s);" % owner
        else:
            yield from ("    " + c for c in self.checks())
            if self.f.is_("solo"):
                yield "    if (e.rc == MPI_SUCCESS)"
                yield "        e.rc = engine_is_solo()"
                yield from fill("                   ? %s_solo(" % self.f.body, self.arguments() + ")")
                yield from fill("                   : %s(" % self.f.body, self.arguments() + ");")
            else:
                yield "    if (e.rc == MPI_SUCCESS)"
                yield from fill("        e.rc = %s(" % self.f.body, self.arguments() + ");")
            stores = list(self.stores())
            if stores:
                yield "    if (e.rc == MPI_SUCCESS)" + (" {" if len(stores) > 1 else "")
                yield from ("        " + s for s in stores)
                if len(stores) > 1:
                    yield "    }"
                for p in (p for p in self.f.parameters if p.kind.undone):
                    yield "    if (e.rc != MPI_SUCCESS && %s)" % p.name
                    yield "        *%s = %s;" % (p.name, p.kind.undone)
            yield "    return leave_tool(&e);" if self.f.tool else "    return leave(&e, %s);" % owner
        yield "}"
        if self.has_short():
            yield from self.short()
        if self.f.prefix:
            yield "ALIAS(%s, P%s);" % (self.name, self.name)
        yield ""


def write_entries(out):
    for chapter, functions in every_chapter():
        lines = ["/* SPDX-License-Identifier: BSD-3-Clause", " *",
                 " * Entry points written by src/gen_api.py from src/api/%s.h: check and resolve" % chapter,
                 " * the arguments, call the body, leave through the error handler.", " */",
                 "#include \"src/checks.h\"", "#include \"src/api/%s.h\"" % chapter]
        lines += ["#include \"src/stream.h\""] * (chapter in EXTENSIONS)
        lines += ["#include \"src/quick_p2p.h\""] * any(f.is_("quick") for f in functions)
        lines += ["#include \"src/recall.h\""] * any(f.is_("recalled") for f in functions)
        lines += ["#include \"src/solo.h\""] * any(f.is_("solo") for f in functions) + [
                 "",
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


# ---- what is missing, and the command line ----
def missing():
    sources = "\n".join(p.read_text() for p in SRC.glob("*.c"))
    for chapter, functions in every_chapter():
        for f in functions:
            name = f.prefix + f.name if f.is_("manual") else f.body
            name = re.sub(r"PMPI_(\w+)_(to|from)int", r"AS_INTEGER(\1", name)  # manual.c
            defined = re.search(r"^\w[^;{=]*\b%s\(|^%s," % ((re.escape(name),) * 2), sources, re.M)
            if not f.is_("later") and not defined:
                print("%-12s %s" % (chapter, f.body))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--missing", action="store_true")
    arguments = parser.parse_args()
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        write_prototypes(arguments.out)
        write_extensions(arguments.out)
        write_entries(arguments.out)
    if arguments.missing:
        missing()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the manual: one page per function, from what is in src/api and nothing else.

    <chapter>.h      the prototype and, in front of it, the sentences that say what it does
    arguments.txt    what an argument means, by its name
    errors.txt       what is checked of an argument, by its kind
    manual.txt       paragraphs, errors, examples and references, by the function's name

    gen_man.py DIR      write the pages
    gen_man.py --check  arguments or checks without a sentence, sentences that no page has: exit
                        code 1
    gen_man.py --examples DIR   write every example as a C program
"""
import argparse
import fnmatch
import pathlib
import re
import sys
import textwrap

import gen_api

API = gen_api.SRC / "api"
CHAPTERS = {"abi": "20, Application Binary Interface",
            "collective": "6, Collective Communication",
            "comm": "7, Groups, Contexts, Communicators, and Caching", "datatype": "5, Datatypes",
            "deprecated": "16, Deprecated Interfaces",
            "environment": "9, MPI Environmental Management",
            "external": "13, External Interfaces", "info": "10, The Info Object",
            "io": "14, I/O", "language": "19, Language Bindings",
            "p2p": "3, Point-to-Point Communication",
            "partitioned": "4, Partitioned Communication",
            "process": "11, Process Initialization, Creation, and Management",
            "rma": "12, One-Sided Communications", "tool": "15, Tool Support",
            "topology": "8, Virtual Topologies"}
PREAMBLE = "#include <mpix.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n"


# ---- what the text files say ----
class Sentences:
    """Lines `name [@function[,function]] [in|out|inout]: sentence`; the narrowest one counts."""

    def __init__(self, path):
        self.rows = {}
        for line in joined_lines(path):
            name, functions, way, sentence = re.fullmatch(
                r"(\S+?)(?: @(\S+))?(?: (in|out|inout))?: (.*)", line).groups()
            self.rows.setdefault(name, []).append([functions, way, sentence, False])

    def find(self, parameter, function):
        rows = self.rows.get(parameter.name, [])
        for row in sorted(rows, key=lambda r: r[0] is None):
            if row[0] is None or any(matches(function.name, p) for p in row[0].split(",")):
                row[3] = True
                return row[1] or way_of(parameter), row[2]
        return way_of(parameter), None

    def unused(self):
        return ["%s @%s" % (n, r[0]) for n, rows in self.rows.items() for r in rows if not r[3]]


def full_name(name):
    """Of a function in the text files, where MPI_ is left out."""
    return name if name.startswith("MPIX_") else "MPI_" + name


def matches(name, pattern):
    return fnmatch.fnmatchcase(name, full_name(pattern))


def without_remarks(path):
    return re.sub(r"^#.*\n", "", path.read_text(), flags=re.M)


def joined_lines(path):
    """Lines of a file; one that is indented continues the one before."""
    text = re.sub(r"\n[ \t]+", " ", without_remarks(path))
    return [line for line in text.split("\n") if line.strip()]


class Notes:
    """manual.txt: blocks `@ pattern ...` (a pattern with ! in front takes names out again) of
    paragraphs; lines `! CLASS: what`, `> see also`, and an example behind `.example`."""

    def __init__(self, path):
        self.blocks = []
        for block in re.split(r"^@ ", without_remarks(path), flags=re.M)[1:]:
            said, _, example = block.partition("\n.example\n")
            head, _, body = re.sub(r"\n  (?=\S)", " ", said).partition("\n")
            lines = [line for line in body.split("\n") if line[:2] not in ("! ", "> ")]
            self.blocks.append({
                "patterns": head.split(), "example": example.rstrip(), "used": False,
                "errors": re.findall(r"^! (\w+): (.*)$", body, re.M),
                "see": " ".join(re.findall(r"^> (.*)$", body, re.M)).split(),
                "text": [p for p in "\n".join(lines).strip().split("\n\n") if p.strip()]})

    def of(self, function):
        for block in self.blocks:
            hits = [p for p in block["patterns"] if matches(function.name, p.lstrip("!"))]
            if hits and not any(p.startswith("!") for p in hits):
                block["used"] = True
                yield block


# ---- arguments ----
INOUT = ("inout_t", "request_t *", "position_t *", "message_t *", "type_at_t")


def way_of(parameter):
    """in, out or inout, from the kind or the C type."""
    kind, array = parameter.type, parameter.array
    if kind in INOUT or "_free_t" in kind or parameter.name == "array_of_requests" and \
            not kind.startswith("const"):
        return "inout"
    if re.search(r"_out_t|^out_t|^room_t|flag_t|large_result|^status_t|^large_array", kind):
        return "out"
    pointer = kind.endswith("*") and not parameter.is_kind and "_fn" not in parameter.name
    results = (pointer or array) and not kind.startswith(("const", "void", "char *"))
    return "out" if results and "_function" not in kind else "in"


def shown(parameter):
    """Parameters that the user sees in one of the two forms."""
    return parameter.kind.wide or parameter.kind.user


def arguments(function, sentences):
    if function.raw.strip() in ("", "void") or "..." in function.raw:
        return
    for parameter in function.parameters:
        if shown(parameter):
            way, sentence = sentences.find(parameter, function)
            yield parameter.name, {"inout": "in, out"}.get(way, way), sentence


# ---- errors ----
def errors_by_kind():
    rows = {}
    for line in joined_lines(API / "errors.txt"):
        kind, class_, what = re.fullmatch(r"(\S.*?): (MPI_\w+): (.*)", line).groups()
        rows[kind] = (class_, what)
    return rows


def checked(function):
    """Parameters that the entry point looks at."""
    if function.is_("manual") or function.is_("later"):
        return []
    return [p for p in function.parameters if p.is_kind and shown(p)]


def errors(function, kinds, blocks):
    """Class and sentence of everything that is found wrong, in the order of checks."""
    found = [(c, w) for block in blocks for c, w in block["errors"]]
    for p in sorted(checked(function), key=lambda p: p.kind.turn):
        if p.type in kinds:
            class_, what = kinds[p.type]
            found.insert(0 if class_ == "MPI_ERR_COMM" else len(found),
                         (class_, what.replace("{n}", "\\fI%s\\fP" % p.name)))
    together = {}
    for class_, what in found:
        together.setdefault(class_, [])
        if what not in together[class_]:
            together[class_].append(what)
    return together


def handler_of(function):
    if function.name.startswith("MPI_T_"):
        return ("Functions of the tools interface call no error handler: they return MPI_SUCCESS "
                "or one of these codes.")
    owner = function.owner
    if owner is None:
        where = ("the one of MPI_COMM_SELF, because no communicator, session or file is among the "
                 "arguments")
    elif owner.type.startswith("file_or_null"):
        where = ("the one of \\fI%s\\fP, which for MPI_FILE_NULL is the default of all files" %
                 owner.name)
    else:
        where = "the one of \\fI%s\\fP" % owner.name
    return ("An error raises the error handler: %s. MPI_ERRORS_ARE_FATAL, the default, ends the job "
            "with a message that names the function, the argument, its value and what would be "
            "right; with MPI_ERRORS_RETURN the function returns a code, whose class and text "
            "MPI_Error_class(3) and MPI_Error_string(3) tell." % where)


# ---- a page ----
def plain(text):
    """Text in which *word* is an argument and nothing is a command of roff."""
    text = text.replace("\\f", "\0").replace("\\", "\\e").replace("\0", "\\f")
    text = re.sub(r"(?<![\w*])\*(\w+)\*(?![\w*])", r"\\fI\1\\fP", text)
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def filled(text):
    """Sentences on lines of their own, as manual pages like it."""
    joined = " ".join(text.split())
    return [plain(line) for line in re.split(r"(?<=[.:?]) (?=[A-Z\\*])", joined)]


def paragraphs(blocks):
    for block in blocks:
        for text in block["text"]:
            yield ".PP"
            if text.startswith("    "):
                yield from [".nf", plain(textwrap.dedent(text)), ".fi"]
            else:
                yield from filled(text)


def neighbours(function, functions, blocks):
    """What to read next: what manual.txt says, then what stands around it in the chapter."""
    at = functions.index(function)
    near = [f.name for f in functions[max(0, at - 3):at + 4]
            if not f.is_("later") or function.is_("later")]
    said = [full_name(n) for block in blocks for n in block["see"]]
    names = list(dict.fromkeys(said + near))
    return [n for n in names if n != function.name]


def synopsis(function):
    header = "mpi.h" if function.prefix else "mpix.h"
    yield from [".SH SYNOPSIS", ".nf", "#include <%s>" % header]
    for suffix, wide in function.forms():
        yield from [".sp", gen_api.declaration(function, "", suffix, wide) + ";"]
    yield ".fi"


def title(function):
    """The sentence behind the name: no more than the first one, and of that what fits."""
    first = re.split(r"(?<=[.?]) ", function.comment)[0].rstrip(".")
    return plain(first if len(first) < 90 else re.split(r"[;:] ", first)[0])


def description(function, blocks):
    yield ".SH DESCRIPTION"
    yield from filled(function.comment)
    if function.is_("later"):
        yield from [".PP", ".B This function is not built yet:",
                    "it raises MPI_ERR_UNSUPPORTED_OPERATION, and the message names it."]
    yield from paragraphs(blocks)
    if function.has_twin():
        wider = any(p.kind.user != p.kind.wide for p in function.parameters)
        yield from [".PP", function.name + "_c is the same" +
                    (" with counts and displacements wider than an int." if wider else ".")]
    if function.is_("anytime"):
        yield from [".PP",
                    "It may be called before MPI_Init and after MPI_Finalize, by any thread."]


def error_lines(function, kinds, blocks):
    if function.result != "int" or function.is_("manual"):
        return
    yield from [".SH ERRORS", *filled(handler_of(function))]
    rows = {"MPI_ERR_UNSUPPORTED_OPERATION": ["always: the function is not built"]} \
        if function.is_("later") else errors(function, kinds, blocks)
    for class_, what in rows.items():
        yield from [".TP", ".B " + class_, plain("; ".join(what)) + "."]


def man_page(function, chapter, functions, texts):
    sentences, kinds, notes = texts
    blocks = list(notes.of(function))
    lines = [".\\\" Written by src/gen_man.py from src/api.",
             ".TH %s 3 \"\" \"xmpi\" \"MPI 5.0\"" % function.name, ".nh", ".ad l", ".SH NAME",
             "%s \\- %s" % (function.name, title(function)), *synopsis(function)]
    told = list(arguments(function, sentences))
    lines += description(function, blocks)
    if told:
        lines += [".SH ARGUMENTS"]
        lines += [".TP\n.IR %s \" (%s)\"\n%s" % (n, way, plain(s or "")) for n, way, s in told]
    lines += error_lines(function, kinds, blocks)
    examples = [b["example"] for b in blocks if b["example"]]
    if examples:
        lines += [".SH EXAMPLE", ".nf"] + [plain(e) for e in examples] + [".fi"]
    near = ", ".join("\\fB%s\\fP(3)" % n for n in neighbours(function, functions, blocks))
    lines += [".SH SEE ALSO"] + ([near, ".PP"] if near else [])
    lines += ["The MPI standard, version 5.0, chapter %s." % CHAPTERS[chapter] if function.prefix
              else "What mpix.h says. The function is not in the MPI standard.", ""]
    return "\n".join(lines)


def read_texts():
    return Sentences(API / "arguments.txt"), errors_by_kind(), Notes(API / "manual.txt")


def write_pages(out):
    texts = read_texts()
    for chapter, functions in gen_api.every_chapter():
        for f in functions:
            gen_api.write(out / (f.name + ".3"), [man_page(f, chapter, functions, texts)])
            if f.has_twin():
                gen_api.write(out / (f.name + "_c.3"), [".so man3/%s.3" % f.name, ""])


# ---- what is missing ----
def check():
    sentences, kinds, notes = read_texts()
    functions = [f for _, chapter in gen_api.every_chapter() for f in chapter]
    wrong = ["%s: nothing is said about argument %s" % (f.name, name) for f in functions
             for name, _, sentence in arguments(f, sentences) if not sentence]
    names = {f.name for f in functions}
    for f in functions:
        wrong += ["%s: refers to %s, which is none" % (f.name, n) for b in notes.of(f)
                  for n in map(full_name, b["see"]) if n not in names]
    wrong += ["%s: nothing is said about what is checked of %s" % (f.name, p.name)
              for f in functions for p in checked(f) if p.kind.check and p.type not in kinds]
    wrong += ["arguments.txt: no page has %s" % row for row in sentences.unused()]
    wrong += ["manual.txt: no page has @ " + " ".join(b["patterns"])
              for b in notes.blocks if not b["used"]]
    print("\n".join(sorted(set(wrong))) or
          "every argument of %d pages has a sentence" % len(names))
    return bool(wrong)


def write_examples(out):
    """Pieces become functions of one program, whole programs files of their own."""
    pieces = []
    for block in read_texts()[2].blocks:
        name, text = block["patterns"][0].replace("*", ""), textwrap.dedent(block["example"])
        if "main(" in text:
            (out / (name + ".c")).write_text(PREAMBLE + text + "\n")
        elif "MPI_Init(" in text:
            (out / (name + ".c")).write_text(PREAMBLE + "int main(void)\n{\n%s\n}\n" % text)
        elif text:
            pieces.append((name, text))
    functions = "".join("static void %s(void)\n{\n%s\n}\n\n" % piece for piece in pieces)
    calls = "".join("    %s();\n    MPI_Barrier(MPI_COMM_WORLD);\n" % name for name, _ in pieces)
    whole = "int main(void)\n{\n    MPI_Init(NULL, NULL);\n%s    return MPI_Finalize();\n}\n" % calls
    (out / "pieces.c").write_text(PREAMBLE + functions + whole)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("dir", type=pathlib.Path, nargs="?")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--examples", type=pathlib.Path, metavar="DIR")
    options = parser.parse_args()
    for directory, writer in ((options.dir, write_pages), (options.examples, write_examples)):
        if directory:
            directory.mkdir(parents=True, exist_ok=True)
            writer(directory)
    return check() if options.check else 0


if __name__ == "__main__":
    sys.exit(main())

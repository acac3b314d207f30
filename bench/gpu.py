#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""All that can be known of this library on a machine with a GPU, by one command.

    bench/gpu.py --prefix _install              all parts, each up to ten minutes
    bench/gpu.py --prefix _install messages kernels
    bench/gpu.py --list

Each part leaves bench/results/gpu-PART.txt with its command, the machine and what it printed; the
summary compares with what is aimed at.  A part that fails does not keep others from being run.

    conform-NP-K    test/conform on memory of the GPU, on NP ranks of one GPU; the K-th quarter of it
    order, order-direct   producers that are late by 100 ms in their streams, 1000 rounds; with copies by the
                    stream, and where operations work on the device themselves (XMPI_CUDA_ENQUEUE=1)
    messages, messages-staged   8 B to 256 MiB; read by the receiver, and by way of the host
    mixed           messages of which one side lies on the host
    copies-NP       the driver's copies alone, of so many processes at a time
    allreduce-NP    beside the same by hand, by way of the host
    kernels         folding, beside copies within the device
    tune            what `xmpi tune` finds best here
    overlap         examples/ddp_overlap.c

No GPU is needed to try it: XMPI_LIBCUDA=LIBRARY with the pretended driver (gcc -O2 -shared -fPIC -I. -o
LIBRARY test/device/fake_*.c), and --max-bytes 4M --rounds 40, as its kernels are slow."""
import argparse
import datetime
import glob
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
QUARTERS = 4


def amount(text):
    """256M and the like, in bytes."""
    match = re.fullmatch(r"(\d+)([KMG]?)", text)
    if not match:
        raise argparse.ArgumentTypeError("%s is no number of bytes" % text)
    return int(match.group(1)) << {"": 0, "K": 10, "M": 20, "G": 30}[match.group(2)]


def conform_part(ranks, quarter):
    programs = sorted(os.path.basename(path)[:-2] for path in glob.glob(TOP + "/test/conform/*.c"))
    return ["sh", TOP + "/test/conform.sh"], {
        "XMPI_TEST_MEMORY": "cuda", "NP": str(ranks), "ONLY": " ".join(programs[quarter - 1::QUARTERS]),
        "LIMIT": os.environ.get("LIMIT", "200"), "srcdir": TOP}


def parts_of(options, work):
    """{name: (command, environment)}"""
    def run(ranks, *words):
        return [options.prefix + "/bin/xmpirun", "-np", str(ranks), *words]
    bench, most, rounds = work + "/gpu", str(options.max_bytes), str(options.rounds)
    parts = {
        "messages": (run(2, bench, "messages", most), {}),
        "messages-staged": (run(2, bench, "messages", most), {"XMPI_CUDA_IPC": "0"}),
        "mixed": (run(2, bench, "mixed", most), {}),
        "kernels": (run(1, bench, "kernels", most), {}),
        "order": (run(2, bench, "order", rounds, "100"), {"XMPI_CUDA_ENQUEUE": "0"}),
        "order-direct": (run(2, bench, "order", rounds, "100"), {"XMPI_CUDA_ENQUEUE": "1"}),
        "overlap": (run(2, work + "/ddp_overlap"), {}),
        "tune": ([options.prefix + "/bin/xmpi", "tune", "--device", "-o", work + "/tuning"], {})}
    for ranks in options.ranks:
        parts["copies-%d" % ranks] = (run(ranks, bench, "copies", most), {})
        if ranks > 1:
            parts["allreduce-%d" % ranks] = (run(ranks, bench, "allreduce", most), {})
        for quarter in range(1, QUARTERS + 1):
            parts["conform-%d-%d" % (ranks, quarter)] = conform_part(ranks, quarter)
    return parts


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=TOP).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def machine():
    """What the figures are of."""
    gpu = output_of("nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader")
    if os.environ.get("XMPI_LIBCUDA"):
        gpu = "the driver %s" % os.environ["XMPI_LIBCUDA"]
    return ["# %s, %s" % (datetime.date.today(), platform.platform()),
            "# commit %s" % (output_of("git", "rev-parse", "--short", "HEAD") or "not known"),
            "# GPU: %s" % (gpu.replace("\n", "; ") or "nvidia-smi says nothing")]


def build(options, work):
    for source, program in (("bench/gpu.c", "gpu"), ("examples/ddp_overlap.c", "ddp_overlap")):
        subprocess.run([options.prefix + "/bin/xmpicc", "-O2", "-o", work + "/" + program,
                        TOP + "/" + source, "-ldl"], check=True)


def perform(name, command, more, options):
    """The text it left, and whether it went well."""
    environment = dict(os.environ, XMPI_PREFIX=os.path.abspath(options.prefix), **more)
    said = "%s %s" % (" ".join("%s=%s" % item for item in more.items() if item[0] != "srcdir"),
                      " ".join(command))
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, timeout=options.limit, env=environment)
        text, good = done.stdout, done.returncode == 0
    except subprocess.TimeoutExpired as late:
        text = (late.stdout or b"").decode(errors="replace") + "no end within %d s\n" % options.limit
        good = False
    head = "\n".join(machine() + ["# " + said.replace(TOP + "/", "").strip()])
    path = os.path.join(options.results, "gpu-%s.txt" % name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + "\n" + text + ("" if good else "# FAILED\n"))
    return text, good


def rows_of(text):
    """{(what, bytes): value}"""
    rows = re.findall(r"^(\S.*?) +(\d+) +([\d.]+) \S", text, re.M)
    return {(what, int(size)): float(value) for what, size, value in rows}


def judge(name, rows):
    """What the issue aims at; nothing where a part says nothing about it."""
    def least(what, beside, size, wanted):
        ratios = [value / rows[beside, n] for (w, n), value in rows.items()
                  if w == what and n >= size and rows.get((beside, n))]
        return ratios and "%s: %s at least %.2f of %s from %d bytes on; aimed at %.2f" % (
            name, what, min(ratios), beside, size, wanted)
    if name == "messages":
        return least("stream", "copy", 16 << 20, 0.8)
    if name == "kernels":
        return least("fold", "copy", 16 << 20, 0.85)
    if name.startswith("allreduce"):
        ratios = ["%d: %.2f" % (n, value / rows["allreduce by hand", n])
                  for (w, n), value in rows.items() if w == "allreduce" and rows.get(("allreduce by hand", n))]
        return "%s: time relative to by hand, by bytes: %s" % (name, ", ".join(ratios))
    return None


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="all unless said")
    parser.add_argument("--prefix", default="_install", help="where xmpi is installed")
    parser.add_argument("--results", default=TOP + "/bench/results")
    parser.add_argument("--ranks", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2, 4, 8])
    parser.add_argument("--max-bytes", type=amount, default=256 << 20)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--limit", type=int, default=600, help="seconds for a part")
    parser.add_argument("--list", action="store_true", help="of the parts")
    return parser.parse_args()


def main():
    options = arguments()
    options.prefix = os.path.abspath(options.prefix)
    with tempfile.TemporaryDirectory() as work:
        parts = parts_of(options, work)
        unknown = [name for name in options.parts if name not in parts]
        if unknown or options.list:
            print("\n".join(["no part is called " + name for name in unknown] + list(parts)))
            return 2 if unknown else 0
        if not shutil.which(options.prefix + "/bin/xmpicc"):
            print("gpu.py: %s/bin/xmpicc is not there; say --prefix" % options.prefix)
            return 2
        os.makedirs(options.results, exist_ok=True)
        build(options, work)
        failed, judged = [], []
        for name in options.parts or parts:
            text, good = perform(name, *parts[name], options)
            print("%s %s" % ("ok" if good else "not ok", name), flush=True)
            failed += [] if good else [name]
            said = judge(name, rows_of(text)) if good else None
            judged += [said] if said else []
        print("\n".join(judged))
        return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The manual page xmpi-plan(1), for the build.
 */
#include "config.h"
#include "tools/plan.h"

#include <stdio.h>

static const char head[] =
    ".SH NAME\n"
    "xmpi-plan \\- look at collective algorithms without running them\n"
    ".SH SYNOPSIS\n"
    ".B xmpi plan list\n[COLLECTIVE]\n.br\n"
    ".B xmpi plan show\nNAME \\-n P [\\-\\-rank R] [\\-\\-expand] [\\-\\-in\\-place]\n.br\n"
    ".B xmpi plan check\nNAME \\-n A..B\n.br\n"
    ".B xmpi plan cost\nNAME \\-n P \\-\\-bytes N [\\-\\-nodes K]\n.br\n"
    ".B xmpi plan goal\nNAME \\-n P \\-\\-bytes N \\-o FILE\n.br\n"
    ".B xmpi plan import\nFILE.xml \\-o FILE.plan\n.br\n"
    ".B xmpi plan sim\nNAME \\-n P \\-\\-bytes N \\-\\-nodes K [\\-\\-topology T] "
    "[\\-\\-machine "
    "FILE]\n.br\n"
    ".B xmpi plan draw\nNAME \\-n P \\-o FILE.svg [\\-\\-graph]\n.br\n"
    ".B xmpi plan volume\n\\-\\-layers L \\-\\-hidden H \\-\\-batch B [\\-\\-dp D \\-\\-tp T "
    "\\-\\-pp P \\-\\-ep E]\n"
    ".SH DESCRIPTION\n"
    "Collectives of xmpi are plans: what each rank sends, receives, folds and copies, and "
    "what\n"
    "waits for what.  A NAME is a collective and an algorithm, as in allreduce:ring.\n"
    "\\-\\-bytes is the vector of a broadcast, a reduction or a scan, and one block of what "
    "moves\n"
    "blocks.  \\-\\-root, \\-\\-pieces, \\-\\-radix and \\-\\-throttle are understood by all.  "
    "\\-\\-split S "
    "asks for\n"
    "two groups, the first of S ranks; what works only between two has half of them without "
    "it.\n"
    "Neighbours are those of a torus, \\-\\-dims AxB as of MPI_Cart_create, or of a ring of "
    "all.\n"
    "What is performed twice, "
    "first\nfor the sizes of blocks, is counted so, with blocks of \\-\\-bytes each.  There "
    "are at "
    "most\n16777216 ranks and 4096 pieces.\n";

static const char subcommands[] =
    ".SH SUBCOMMANDS\n"
    ".TP\n.B show\nThe steps of one rank (0 unless \\-\\-rank is given), 40 of them unless\n"
    "\\-\\-expand is.  A long plan that repeats itself is shown as loops; what is added in "
    "each\n"
    "round is a multiple of i.\n"
    ".TP\n.B check\nPerforms the plans of all ranks on symbols, for every number of ranks of "
    "the\n"
    "range, in several orders, twice, and says what that proves.\n"
    ".TP\n.B cost\nCounts rounds, messages, bytes sent, folded and copied, and scratch, of "
    "the\n"
    "busiest rank and of all.  In a round a rank sends at most one message and receives at "
    "most\n"
    "one; a range of blocks that passes the last one goes in one round as two messages.  A "
    "step\n"
    "begins as soon as all it waits for is over.  Of several sends that are ready that goes "
    "first\n"
    "which has been so the longest, or which is the first of the plan: what takes fewer rounds "
    "is\n"
    "counted.  Messages are received in the order in which they were sent, even before their "
    "turn\n"
    "to be folded.  That is one schedule, found at once, not the shortest there may be: in S "
    "pieces\n"
    "a bcast:double\\-tree takes 2 S rounds and some, as in papers, but an "
    "allreduce:double\\-tree\n"
    "5 S and some instead of 4 S, since it does not keep any send back for the sake of "
    "others.\n"
    "Where papers let a rank send to all others in a round (all-pairs), there are more here.  "
    "All\n"
    "counts are exact; the time below them is a model's.\n"
    ".TP\n.B sim\nPerforms the plans on a model of a machine.  Ranks that do alike are "
    "performed\n"
    "once; long rings are performed until they are steady.  The output says what was done.\n"
    "Latency, bandwidth and compute are those along the path that ended last; of other sizes "
    "it may "
    "be\nanother path, with less of one of them.\n"
    "Where some of those ranks have a range that passes the last block, all are taken to send "
    "two\nmessages.\n"
    "What would take minutes is refused at once: more than 8000000 steps, or plans of ranks "
    "that do "
    "not\ndo alike with more than 3e9 blocks.\n"
    ".TP\n.B draw\nMessages in time, a line per rank, or with \\-\\-graph who sends to whom.\n"
    ".TP\n.B goal\nThe steps of all ranks as a GOAL schedule, the text that LogGOPSim "
    "simulates; "
    "bytes and\ntags are those of the messages, calculations take the model\\(aqs time.\n"
    ".TP\n.B import\nAn algorithm in the XML of MSCCL becomes a text that XMPI_PLAN loads, and "
    "is "
    "verified;\nwhat is wrong with it is said with its line, and no file is left.\n"
    "Of allreduce with any number of chunks, of others with one per rank.\n"
    ".TP\n.B volume\nBytes that one step of training a transformer sends, see below.\n";

static const char machine[] =
    ".SH THE MODEL\n"
    "A message of n bytes keeps the sender\\(aqs CPU busy for the overhead o, takes the way "
    "out\n"
    "for g + n G, arrives a latency L later, takes the way in for as long, and keeps the\n"
    "receiver\\(aqs CPU busy for o: 2 o + L + g + n G when it is alone.  Ranks of a node "
    "share\n"
    "its interface.  Links of a topology are shared by all messages that pass them, in the\n"
    "order in which they come.  Messages longer than the eager limit wait for their receive.\n"
    ".PP\nA machine file has a line per level; what is not written keeps its value:\n"
    ".PP\n.nf\n"
    "cache   latency=0.1us overhead=0.03us gap=0.01us byte=0.05ns eager=128k\n"
    "node    latency=0.3us byte=0.1ns\n"
    "net     latency=1.5us overhead=0.2us gap=0.05us byte=0.08ns eager=16k\n"
    "fabric  hop=0.1us byte=0.08ns\n"
    "rank    fold=0.05ns copy=0.05ns\n"
    ".fi\n"
    ".PP\nTopologies: wires (a wire for each pair of nodes), ring, hypercube, torus:AxBx...,\n"
    "fat\\-tree:K (switches of K ports, up to K^3/4 nodes), dragonfly:GxAxP (G groups of A "
    "routers\n"
    "with P nodes each), dragonfly+:GxLxSxP (G groups of L leaves and S spines, P nodes per "
    "leaf).\n";

static const char volume[] =
    ".SH VOLUME\n"
    "A rank holds L / pp layers, 1 / tp of each: 12 H^2 weights per layer, or with experts 4 "
    "H^2\n"
    "and 8 H^2 for each of its experts / ep.  W is their number, t the bytes of a number, m "
    "the\n"
    "micro\\-batches, A = batch / dp / m * seq * H * t an activation.  Sent per rank and "
    "step:\n"
    ".PP\n.nf\n"
    "data      allreduce  2 W t (dp \\- 1) / dp; weights of experts with dp / ep instead of "
    "dp\n"
    "tensor    allreduce  4 m L / pp times 2 A (tp \\- 1) / tp\n"
    "pipeline  send       m A to the stage before, m A to the stage behind\n"
    "expert    alltoall   4 m L / pp times A top\\-k (ep \\- 1) / ep\n"
    ".fi\n"
    ".SH \"EXIT CODE\"\n0; 1 when it cannot be done; 2 when the command line is wrong.\n"
    ".SH \"SEE ALSO\"\nxmpi(1), xmpirun(1)\n";

int plan_manual(void)
{
    printf(".TH XMPI-PLAN 1 \"\" \"xmpi %s\" \"xmpi\"\n", PACKAGE_VERSION);
    fputs(head, stdout);
    fputs(subcommands, stdout);
    fputs(machine, stdout);
    fputs(volume, stdout);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpi plan volume: what one step of training a transformer sends, by kind of parallelism.
 *
 * A rank holds L / pp layers, of each 1 / tp.  A layer has 4 h^2 weights of attention and 8 h^2 of a
 * feed-forward net, or with experts E nets, E / ep of them here.  The batch B of sequences of s
 * tokens is dealt out to dp replicas in m micro-batches, so an activation is A = B / dp / m * s * h
 * numbers of t bytes.  Per step and rank:
 *
 *     data      allreduce of the gradients of its weights over dp    2 W t (dp - 1) / dp
 *               experts: over the dp / ep replicas that share them
 *     tensor    4 allreduces of A per layer and micro-batch          2 A t (tp - 1) / tp each
 *     pipeline  A forward and A back per micro-batch and neighbour   A t each
 *     expert    4 alltoalls of A k per layer and micro-batch         A t k (ep - 1) / ep each
 *
 * Bytes sent are those of algorithms that move no more than they must.  Not counted: embeddings,
 * biases, norms, optimizer states, sequence parallelism.
 */
#include "tools/plan.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

struct shape { /* in the order of the table of options */
    int dp, tp, pp, ep, layers, hidden, batch, seq, micro, experts, topk;
    int bytes; /* per number */
};

struct option {
    const char *name;
    size_t at;
    int standard; /* 0: must be given */
    const char *what;
};
#define AT(member) offsetof(struct shape, member)
static const struct option options[] = {
    { "--dp", AT(dp), 1, "replicas that share the batch (1)" },
    { "--tp", AT(tp), 1, "ranks that share each layer (1)" },
    { "--pp", AT(pp), 1, "stages that share the layers (1)" },
    { "--ep", AT(ep), 1, "ranks that share the experts, among those of dp (1)" },
    { "--layers", AT(layers), 0, "layers" },
    { "--hidden", AT(hidden), 0, "width of a layer" },
    { "--batch", AT(batch), 0, "sequences per step, all replicas together" },
    { "--seq", AT(seq), 2048, "tokens per sequence (2048)" },
    { "--micro-batches", AT(micro), 1, "micro-batches per step (1)" },
    { "--experts", AT(experts), -1, "experts per layer (as many as --ep)" },
    { "--top-k", AT(topk), 1, "experts that see a token (1)" },
};
enum { OPTIONS = sizeof options / sizeof *options };

static const struct {
    const char *name;
    int bytes;
} dtypes[] = { { "fp8", 1 }, { "bf16", 2 }, { "fp16", 2 }, { "fp32", 4 }, { "fp64", 8 } };
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

static void usage(FILE *to)
{
    fputs("usage: xmpi plan volume --layers L --hidden H --batch B [--dp 8 --tp 4 --pp 2 --ep "
          "4]\n\n"
          "Bytes that one step of training a transformer sends, by kind of parallelism.\n\n",
          to);
    for (int i = 0; i < OPTIONS; i++)
        fprintf(to, "  %-16s %s\n", options[i].name, options[i].what);
    fputs("  --dtype          fp8, bf16, fp16, fp32, fp64 (bf16)\n", to);
}

static int read_dtype(struct shape *shape, const char *value)
{
    for (int i = 0; i < DTYPES; i++)
        if (!strcmp(value, dtypes[i].name)) {
            shape->bytes = dtypes[i].bytes;
            return 0;
        }
    return plan_wrong("--dtype %s: there is fp8, bf16, fp16, fp32, fp64", value);
}

static int read_option(struct shape *shape, const char *name, const char *value)
{
    if (!strcmp(name, "--dtype"))
        return read_dtype(shape, value);
    for (int i = 0; i < OPTIONS; i++) {
        long n;
        if (strcmp(name, options[i].name) != 0)
            continue;
        if (!number_read(value, 1, INT_MAX, &n))
            return plan_wrong("%s %s is no number from 1 to %d", name, value, INT_MAX);
        *(int *)((char *)shape + options[i].at) = (int)n;
        return 0;
    }
    return plan_wrong("%s is not an option; see xmpi plan volume --help", name);
}

static int must_divide(const char *what, int n, const char *by, int parts)
{
    if (n % parts == 0)
        return 0;
    return plan_wrong("%s %d cannot be shared evenly by %s %d; take a divisor", what, n, by,
                      parts);
}

/* All that must be given and is not, in one message. */
static int given(const struct shape *s)
{
    char missing[128] = "";
    size_t at = 0;
    for (int i = 0; i < OPTIONS; i++)
        if (*(const int *)((const char *)s + options[i].at) == 0)
            at += (size_t)snprintf(missing + at, sizeof missing - at, "%s%s (%s)",
                                   at ? ", " : "", options[i].name, options[i].what);
    return at ? plan_wrong("missing: %s", missing) : 0;
}

static int complete(struct shape *s)
{
    int missing = given(s);
    if (missing)
        return missing;
    if (s->experts < 0)
        s->experts = s->ep;
    if (s->topk > s->experts)
        return plan_wrong("--top-k %d is more than the %d experts; take at most that many",
                          s->topk, s->experts);
    int code = must_divide("--layers", s->layers, "--pp", s->pp);
    code = code ? code : must_divide("--hidden", s->hidden, "--tp", s->tp);
    code = code ? code : must_divide("--dp", s->dp, "--ep", s->ep);
    code = code ? code : must_divide("--experts", s->experts, "--ep", s->ep);
    code = code ? code : must_divide("--batch", s->batch, "--dp", s->dp);
    return code ? code
                : must_divide("sequences per replica", s->batch / s->dp, "--micro-batches",
                              s->micro);
}

static void row(const char *kind, const char *primitive, int ranks, double calls, double vector,
                double share)
{
    if (ranks > 1 && calls > 0)
        printf("  %-9s %-10s %5d %8.0f %16.0f %18.0f\n", kind, primitive, ranks, calls, vector,
               calls * vector * share);
}

static void print(const struct shape *s)
{
    double h = s->hidden, layers = (double)s->layers / s->pp, t = s->bytes;
    double activation = (double)s->batch / s->dp / s->micro * s->seq * h * t;
    double per_layer = s->experts > 1 ? 4 * h * h : 12 * h * h;
    double dense = layers * per_layer / s->tp * t;
    double experts = s->experts > 1 ? layers * 8 * h * h * s->experts / s->ep / s->tp * t : 0;
    double around = 2.0 * (s->tp - 1) / s->tp;
    int copies = s->dp / s->ep;
    printf("%lld ranks: dp %d, tp %d, pp %d, ep %d; %.0f weights per rank\n",
           (long long)s->dp * s->tp * s->pp, s->dp, s->tp, s->pp, s->ep, (dense + experts) / t);
    printf("  %-9s %-10s %5s %8s %16s %18s\n", "parallel", "primitive", "ranks", "calls",
           "bytes each", "sent per rank");
    row("data", "allreduce", s->dp, 1, dense, 2.0 * (s->dp - 1) / s->dp);
    row("data", "allreduce", copies, experts > 0, experts, 2.0 * (copies - 1) / copies);
    row("tensor", "allreduce", s->tp, 4 * layers * s->micro, activation, around);
    row("pipeline", "send", s->pp, (s->pp > 2 ? 2 : 1) * s->micro, activation, 1);
    row("expert", "alltoall", s->ep, 4 * layers * s->micro, activation * s->topk,
        (s->ep - 1.0) / s->ep);
}

int volume_main(int argc, char **argv)
{
    struct shape shape = { .bytes = 2 };
    for (int i = 0; i < OPTIONS; i++)
        *(int *)((char *)&shape + options[i].at) = options[i].standard;
    for (int i = 1; i < argc; i += 2) {
        bool help = !strcmp(argv[i], "--help") || !strcmp(argv[i], "-h");
        if (help) {
            usage(stdout);
            return 0;
        }
        if (i + 1 >= argc)
            return plan_wrong("%s has no value; see xmpi plan volume --help", argv[i]);
        int code = read_option(&shape, argv[i], argv[i + 1]);
        if (code)
            return code;
    }
    int code = complete(&shape);
    if (code == 0)
        print(&shape);
    return code;
}

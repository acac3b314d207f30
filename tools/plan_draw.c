/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpi plan draw: a plan as SVG, either in time or as a graph.
 *
 *     in time    a line per rank, rounds from left to right as count.c counts them; an arrow for
 *                each message, from when it set out to when it is there
 *     --graph    ranks on a circle, or level by level when each of them hears from one other at
 *                most, and an arrow for each pair that talks
 *
 * Colours come from a style sheet inside, which follows the reader's light or dark setting.
 */
#include "tools/plan.h"

#include "coll/count.h"
#include "runtime/fail.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 64, MOST_MESSAGES = 4096, ROW = 34, LEFT = 76, TOP = 64, RADIUS = 13 };

struct message {
    int from, to, begin, end;
    bool fold;
    double bytes;
};

struct drawing {
    const struct cast *cast;
    FILE *to;
    struct message *message;
    int nmessages, rounds, p;
    bool too_many;
};

static void note(void *self, int actor, int i, int from, int to)
{
    struct drawing *d = self;
    const struct act *act = &cast_role(d->cast, actor)->act[i];
    if (d->nmessages == MOST_MESSAGES) {
        d->too_many = true;
        return;
    }
    d->message[d->nmessages++] =
        (struct message){ act->peer, actor, from, to, act->verb == VERB_FOLD, act->bytes };
}

/* What it is, and room for it. */
struct title {
    char text[160];
    int width;
};

static struct title title_of(const struct drawing *d, const struct plan_args *args)
{
    enum { LEAST = 420, LETTER = 8, EDGE = 14 };
    struct title t;
    int n = snprintf(t.text, sizeof t.text, "%s:%s on %d ranks: %d rounds",
                     collective_name(args->algorithm->what), args->algorithm->name, d->p,
                     d->rounds);
    int wide = LETTER * n + 2 * EDGE;
    t.width = wide > LEAST ? wide : LEAST;
    return t;
}

/* What the colours say, where both occur. */
static void legend(const struct drawing *d, int width)
{
    bool any[2] = { false, false };
    for (int i = 0; i < d->nmessages; i++)
        any[d->message[i].fold] = true;
    int x = width - 190;
    for (int fold = 0; any[0] && any[1] && fold < 2; fold++, x += 84)
        fprintf(d->to,
                "<path class=\"%s\" d=\"M%d 38h24\" marker-end=\"url(#%s)\"/>"
                "<text x=\"%d\" y=\"42\">%s</text>\n",
                fold ? "fold" : "move", x, fold ? "fold" : "move", x + 30,
                fold ? "is folded" : "is kept");
}

/* At least so wide: the title has to fit. */
static void head(const struct drawing *d, const struct plan_args *args, int width, int height)
{
    struct title title = title_of(d, args);
    width = width < title.width ? title.width : width;
    const char *what = collective_name(args->algorithm->what), *name = args->algorithm->name;
    fprintf(
        d->to,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
        "height=\"%d\" role=\"img\">\n"
        "<title>%s:%s on %d ranks</title>\n"
        "<style>\n"
        "  text { font: 12px sans-serif; fill: #333 }  .big { font-size: 15px }\n"
        "  .rank { stroke: #999 }  .round { stroke: #ddd }  .dot { fill: #fff; stroke: #555 }\n"
        "  .move { stroke: #0969b5 }  .fold { stroke: #c2410c }  .move, .fold { "
        "stroke-width: 1.5; fill: none }\n"
        "  .amove { fill: #0969b5 }  .afold { fill: #c2410c }\n"
        "  @media (prefers-color-scheme: dark) {\n"
        "    text { fill: #ddd }  .rank { stroke: #888 }  .round { stroke: #444 }\n"
        "    .dot { fill: #222; stroke: #bbb }\n"
        "    .move { stroke: #58a6e8 }  .fold { stroke: #f0883e }\n"
        "    .amove { fill: #58a6e8 }  .afold { fill: #f0883e }\n"
        "  }\n"
        "</style>\n<defs>\n",
        width, height, width, height, what, name, d->p);
    for (int fold = 0; fold < 2; fold++)
        fprintf(d->to,
                "<marker id=\"%s\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
                "markerHeight=\"7\" orient=\"auto\"><path class=\"a%s\" d=\"M0 0L8 4L0 "
                "8z\"/></marker>\n",
                fold ? "fold" : "move", fold ? "fold" : "move");
    fprintf(d->to, "</defs>\n<text class=\"big\" x=\"14\" y=\"24\">%s</text>\n", title.text);
    legend(d, width);
}

/* ---- in time ---- */

static void draw_time(const struct drawing *d, const struct plan_args *args)
{
    int step = d->rounds > 20 ? 44 : 84;
    int width = LEFT + step * d->rounds + 40, height = TOP + ROW * d->p + 16;
    head(d, args, width, height);
    for (int k = 0; k <= d->rounds; k++)
        fprintf(d->to, "<path class=\"round\" d=\"M%d %dv%d\"/>\n", LEFT + k * step, TOP - 8,
                ROW * d->p);
    for (int k = 0; k < d->rounds; k++)
        fprintf(d->to, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%d</text>\n",
                LEFT + k * step + step / 2, TOP - 8, k + 1);
    for (int r = 0; r < d->p; r++)
        fprintf(d->to,
                "<text x=\"14\" y=\"%d\">rank %d</text>"
                "<path class=\"rank\" d=\"M%d %dh%d\"/>\n",
                TOP + ROW * r + 16, r, LEFT, TOP + ROW * r + 12, step * d->rounds);
    for (int i = 0; i < d->nmessages; i++) {
        const struct message *m = &d->message[i];
        const char *kind = m->fold ? "fold" : "move";
        fprintf(d->to, "<path class=\"%s\" d=\"M%d %dL%d %d\" marker-end=\"url(#%s)\"/>\n",
                kind, LEFT + m->begin * step + 6, TOP + ROW * m->from + 12,
                LEFT + m->end * step - 4, TOP + ROW * m->to + 12, kind);
    }
}

/* ---- as a graph ---- */

struct point {
    double x, y;
};

/* Depth of a rank in a tree; -1: it is none. */
static int depth(const struct drawing *d, const int *parent, int rank)
{
    int n = 0;
    for (; parent[rank] >= 0; rank = parent[rank])
        if (n++ == d->p)
            return -1;
    return n;
}

/* Towards the root or away from it: who is whose parent.  False: no tree. */
static bool find_parents(const struct drawing *d, int *parent)
{
    for (int up = 0; up < 2; up++) {
        bool tree = true;
        int roots = 0;
        for (int r = 0; r < d->p; r++)
            parent[r] = -1;
        for (int i = 0; i < d->nmessages; i++) {
            int child = up ? d->message[i].from : d->message[i].to;
            int above = up ? d->message[i].to : d->message[i].from;
            tree = tree && (parent[child] < 0 || parent[child] == above);
            parent[child] = above;
        }
        for (int r = 0; r < d->p; r++) {
            tree = tree && depth(d, parent, r) >= 0;
            roots += parent[r] < 0;
        }
        if (tree && roots == 1)
            return true;
    }
    return false;
}

/* Leaves side by side, parents above the middle of their children.  Returns the next free column. */
static double place(const struct drawing *d, const int *parent, int rank, double column,
                    struct point *at)
{
    double first = column, last = column;
    int children = 0;
    for (int c = 0; c < d->p; c++) {
        if (parent[c] != rank)
            continue;
        column = place(d, parent, c, column, at);
        first = children++ ? first : at[c].x;
        last = at[c].x;
    }
    at[rank].x = children ? (first + last) / 2 : column;
    at[rank].y = depth(d, parent, rank);
    return children ? column : column + 1;
}

/* Returns the size in *width and *height. */
static void lay_out(const struct drawing *d, struct point *at, int *width, int *height)
{
    int parent[MOST_RANKS], deep = 0;
    if (find_parents(d, parent)) {
        double columns = 0;
        for (int r = 0; r < d->p; r++)
            if (parent[r] < 0)
                columns = place(d, parent, r, 0, at);
        for (int r = 0; r < d->p; r++) {
            deep = at[r].y > deep ? (int)at[r].y : deep;
            at[r] = (struct point){ 44 + 46 * at[r].x, TOP + 10 + 58 * at[r].y };
        }
        *width = (int)(42 + 46 * columns);
        *height = TOP + 40 + 58 * deep;
    } else {
        double radius = 40 + 8.0 * d->p;
        for (int r = 0; r < d->p; r++)
            at[r] = (struct point){ radius + 40 + radius * sin(2 * M_PI * r / d->p),
                                    TOP + radius + 14 - radius * cos(2 * M_PI * r / d->p) };
        *width = (int)(2 * radius + 80);
        *height = (int)(TOP + 2 * radius + 40);
    }
}

static bool seen_before(const struct drawing *d, int i)
{
    for (int k = 0; k < i; k++)
        if (d->message[k].from == d->message[i].from && d->message[k].to == d->message[i].to &&
            d->message[k].fold == d->message[i].fold)
            return true;
    return false;
}

static void draw_graph(const struct drawing *d, const struct plan_args *args)
{
    struct point at[MOST_RANKS];
    int width, height;
    lay_out(d, at, &width, &height);
    head(d, args, width, height);
    for (int i = 0; i < d->nmessages; i++) {
        const struct message *m = &d->message[i];
        if (seen_before(d, i))
            continue;
        struct point a = at[m->from], b = at[m->to];
        double length = hypot(b.x - a.x, b.y - a.y), x = (b.x - a.x) / length,
               y = (b.y - a.y) / length, aside = m->fold ? 3 : -3; /* both kinds can be seen */
        fprintf(d->to,
                "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\" marker-end=\"url(#%s)\"/>\n",
                m->fold ? "fold" : "move", a.x + x * RADIUS - y * aside,
                a.y + y * RADIUS + x * aside, b.x - x * (RADIUS + 2) - y * aside,
                b.y - y * (RADIUS + 2) + x * aside, m->fold ? "fold" : "move");
    }
    for (int r = 0; r < d->p; r++)
        fprintf(d->to,
                "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"/>"
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%d</text>\n",
                at[r].x, at[r].y, RADIUS, at[r].x, at[r].y + 4, r);
}

/* ---- all of it ---- */

static int write_file(struct drawing *d, const struct plan_args *args)
{
    d->to = strcmp(args->output, "-") ? fopen(args->output, "w") : stdout;
    if (!d->to) {
        plan_wrong("-o %s: %s", args->output, strerror(errno));
        return 1;
    }
    if (args->graph)
        draw_graph(d, args);
    else
        draw_time(d, args);
    fputs("</svg>\n", d->to);
    if (d->to == stdout || fclose(d->to) == 0)
        return 0;
    plan_wrong("-o %s: %s", args->output, strerror(errno));
    return 1;
}

int plan_draw(const struct plan_args *args)
{
    struct price_query query = plan_query(args);
    struct cast cast;
    if (!args->output)
        return plan_wrong("where to?  As in -o FILE.svg, or -o - for the standard output");
    if (args->from > MOST_RANKS)
        return plan_wrong("-n %d: a picture of more than %d ranks cannot be read; take fewer",
                          args->from, MOST_RANKS);
    struct drawing d = { .cast = &cast, .p = args->from };
    d.message = malloc(MOST_MESSAGES * sizeof *d.message);
    int code = 1;
    if (!d.message)
        plan_wrong("no memory for a picture");
    else if (cast_open(&cast, &query, 1, (struct grouping){ 0, 0 }, 1000000) ||
             count_rounds(&cast, note, &d, &d.rounds))
        plan_wrong("%s", fail_text());
    else if (d.too_many)
        code = plan_wrong("more than %d messages cannot be read; take fewer ranks or pieces",
                          MOST_MESSAGES);
    else
        code = write_file(&d, args);
    if (d.message)
        cast_close(&cast);
    free(d.message);
    return code;
}

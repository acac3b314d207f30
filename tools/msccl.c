/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading the XML of MSCCL: four kinds of tags, nothing between them that matters.
 *
 *     <algo name="ring" coll="allreduce" ngpus="2" nchunksperloop="2" ...>
 *       <gpu id="0" i_chunks="2" o_chunks="0" s_chunks="0">
 *         <tb id="0" send="1" recv="1" chan="0">
 *           <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1"
 *                 depid="-1" deps="-1" hasdep="0"/>
 *
 * Attributes that say how a GPU does it (proto, channels, sizes) are passed over.
 */
#include "tools/msccl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 64 << 20, MOST_GPUS = 1024, MOST_CHUNKS = 1 << 16, MOST_TAG = 1000 };

struct reader {
    struct msccl *a;
    const char *at;
    int line, gpu,
        chunks[MSCCL_BUFFERS]; /* the open gpu, -1: none; its chunks, -1: it does not say */
    bool in_block, over;       /* a thread block is open; </algo> has come */
    bool known[MOST_GPUS];     /* gpus that have been */
    char tag[MOST_TAG];
};

static bool wrong(struct reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool wrong(struct reader *r, const char *format, ...)
{
    int n = snprintf(r->a->wrong, sizeof r->a->wrong, "line %d: ", r->line);
    va_list args;
    va_start(args, format);
    vsnprintf(r->a->wrong + n, sizeof r->a->wrong - (size_t)n, format, args);
    va_end(args);
    return false;
}

/* ---- tags and attributes ---- */

/* Where a tag ends: an angle in an attribute is none of its own.  NULL: nowhere. */
static const char *tag_end(const char *at)
{
    char quote = '\0';
    if (strncmp(at, "<!--", 4) == 0)
        return (at = strstr(at, "-->")) ? at + 2 : NULL;
    for (; *at && (quote || *at != '>'); at++)
        if (quote ? *at == quote : *at == '"' || *at == '\'')
            quote = quote ? '\0' : *at;
    return *at ? at : NULL;
}

/* The text of the next tag, without its angles; false: there is none. */
static bool tag_next(struct reader *r)
{
    const char *end;
    for (; *r->at && *r->at != '<'; r->at++) {
        r->line += *r->at == '\n';
        if (r->over && !strchr(" \t\n\r", *r->at))
            return wrong(r, "something behind </algo>");
    }
    if (!*r->at)
        return false;
    bool comment = strncmp(r->at, "<!--", 4) == 0;
    end = tag_end(r->at);
    if (!end)
        return wrong(r, "a tag that does not end");
    if (r->over && !comment)
        return wrong(r, "something behind </algo>");
    for (const char *c = r->at; c < end; c++)
        r->line += *c == '\n';
    int n = comment ? 1 : (int)(end - r->at - 1);
    if (n >= MOST_TAG)
        return wrong(r, "a tag of more than %d characters", MOST_TAG - 1);
    snprintf(r->tag, sizeof r->tag, "%.*s", n, r->at + 1);
    r->at = end + 1;
    return true;
}

static bool tag_is(const struct reader *r, const char *name)
{
    size_t n = strlen(name);
    return strncmp(r->tag, name, n) == 0 && strchr(" \t\n\r/", r->tag[n]);
}

/* The value of an attribute, of n characters; NULL: the tag has none of that name. */
static const char *attribute(const struct reader *r, const char *name, size_t *n)
{
    static const char blanks[] = " \t\n\r";
    const char *at = r->tag + strcspn(r->tag, blanks);
    for (size_t length; *(at += strspn(at, blanks)); at += *n + 1) {
        length = strcspn(at, "= \t\n\r");
        const char *value = at + length + strspn(at + length, blanks);
        if (*value != '=')
            return NULL;
        value += 1 + strspn(value + 1, blanks);
        if (*value != '"' && *value != '\'')
            return NULL;
        const char *end = strchr(value + 1, *value);
        if (!end)
            return NULL;
        *n = (size_t)(end - value - 1);
        if (strlen(name) == length && strncmp(at, name, length) == 0)
            return value + 1;
        at = value + 1;
    }
    return NULL;
}

static int name_length(const struct reader *r)
{
    return (int)strcspn(r->tag, " \t\n\r/");
}

static bool text_get(struct reader *r, const char *name, char *text, size_t room)
{
    size_t n;
    const char *value = attribute(r, name, &n);
    if (!value || n >= room)
        return wrong(r, "<%.*s> needs %s=\"...\" of less than %zu characters", name_length(r),
                     r->tag, name, room);
    snprintf(text, room, "%.*s", (int)n, value);
    return true;
}

static bool number_get(struct reader *r, const char *name, int least, int most, int *number)
{
    size_t n = 0;
    const char *value = attribute(r, name, &n);
    char *end = NULL;
    long read = value ? strtol(value, &end, 10) : 0;
    if (!value || n == 0 || end != value + n || read < least || read > most)
        return wrong(r, "<%.*s> needs %s=\"N\" from %d to %d", name_length(r), r->tag, name,
                     least, most);
    *number = (int)read;
    return true;
}

/* ---- what they say ---- */

static bool place_get(struct reader *r, const char *buffer, const char *offset,
                      struct msccl_place *place)
{
    static const char names[] = "ios";
    char name[4];
    if (!text_get(r, buffer, name, sizeof name) ||
        !number_get(r, offset, -1, MOST_CHUNKS, &place->chunk))
        return false;
    const char *found = name[0] && !name[1] ? strchr(names, name[0]) : NULL;
    if (!found)
        return wrong(r, "%s=\"%s\": buffers are i, o and s", buffer, name);
    place->buffer = (enum msccl_buffer)(found - names);
    return true;
}

/* Which places a type reads or writes; all chunks of them must be there. */
static bool place_note(struct reader *r, const struct msccl_place *place, int n, bool named)
{
    if (!named)
        return true;
    if (place->chunk < 0)
        return wrong(r, "the step has no place for its chunks");
    int end = place->chunk + n, *used = &r->a->used[place->buffer];
    int there = r->chunks[place->buffer];
    if (there >= 0 && end > there)
        return wrong(r, "chunks %d to %d of %c, but gpu %d has %d", place->chunk, end - 1,
                     "ios"[place->buffer], r -> gpu, there);
    *used = end > *used ? end : *used;
    return true;
}

static bool type_get(struct reader *r, enum msccl_type *type)
{
    static const char *const types[] = { "nop", "s",    "r",   "rcs", "rrs",
                                         "rrc", "rrcs", "cpy", "re" };
    char name[8];
    if (!text_get(r, "type", name, sizeof name))
        return false;
    for (int i = 0; i < 9; i++)
        if (strcmp(name, types[i]) == 0) {
            *type = (enum msccl_type)i;
            return true;
        }
    return wrong(r, "type=\"%s\": there is s, r, rcs, rrs, rrc, rrcs, cpy, re, nop", name);
}

static bool grown(struct reader *r, void **list, int n, size_t each)
{
    if (n & (n - 1))
        return true; /* room for twice as many was made at the last power of two */
    void *more = realloc(*list, (n ? 2 * (size_t)n : 1) * each);
    if (!more)
        return wrong(r, "no memory for %d of them", n);
    *list = more;
    return true;
}

static bool step_read(struct reader *r)
{
    struct msccl *a = r->a;
    struct msccl_step s = { .line = r->line };
    int number;
    if (!r->in_block)
        return wrong(r, "a step outside of a thread block");
    if (!number_get(r, "s", 0, 1 << 20, &number))
        return false;
    if (number != a->block[a->nblocks - 1].n)
        return wrong(r, "s=\"%d\", but the next step of this thread block is %d", number,
                     a->block[a->nblocks - 1].n);
    if (!type_get(r, &s.type) || !place_get(r, "srcbuf", "srcoff", &s.src) ||
        !place_get(r, "dstbuf", "dstoff", &s.dst) ||
        !number_get(r, "cnt", 0, MOST_CHUNKS, &s.n) ||
        !number_get(r, "depid", -1, 1 << 20, &s.block) ||
        !number_get(r, "deps", -1, 1 << 20, &s.of_step))
        return false;
    bool reads = s.type == MSCCL_SEND || s.type >= MSCCL_RRS;
    bool writes = s.type >= MSCCL_RECV && s.type != MSCCL_RRS;
    if (!place_note(r, &s.src, s.n, reads) || !place_note(r, &s.dst, s.n, writes) ||
        !grown(r, (void **)&a->step, a->nsteps, sizeof s))
        return false;
    const struct msccl_block *b = &a->block[a->nblocks - 1];
    if ((s.type == MSCCL_SEND ||
         (s.type >= MSCCL_RCS && s.type <= MSCCL_RRCS && s.type != MSCCL_RRC)) &&
        b->to < 0)
        return wrong(r, "thread block %d sends to nobody", b->id);
    if (s.type >= MSCCL_RECV && s.type <= MSCCL_RRCS && b->from < 0)
        return wrong(r, "thread block %d receives from nobody", b->id);
    a->step[a->nsteps++] = s;
    a->block[a->nblocks - 1].n++;
    return true;
}

/* <tb ... /> */
static bool is_empty(const struct reader *r)
{
    return r->tag[strlen(r->tag) - 1] == '/';
}

static bool block_read(struct reader *r)
{
    struct msccl *a = r->a;
    struct msccl_block b = { .gpu = r->gpu, .first = a->nsteps };
    int last = a->gpus - 1;
    if (r->gpu < 0)
        return wrong(r, "a thread block outside of a gpu");
    if (r->in_block)
        return wrong(r, "a thread block inside of another one");
    if (!number_get(r, "id", 0, 1 << 20, &b.id) || !number_get(r, "send", -1, last, &b.to) ||
        !number_get(r, "recv", -1, last, &b.from) ||
        !number_get(r, "chan", -1, 1 << 20, &b.channel) ||
        !grown(r, (void **)&a->block, a->nblocks, sizeof b))
        return false;
    if (b.to == b.gpu || b.from == b.gpu)
        return wrong(r, "gpu %d has itself as a peer", b.gpu);
    for (int i = a->nblocks - 1; i >= 0 && a->block[i].gpu == b.gpu; i--)
        if (a->block[i].id == b.id)
            return wrong(r, "thread block %d of gpu %d is there twice", b.id, b.gpu);
    a->block[a->nblocks++] = b;
    r->in_block = !is_empty(r);
    return true;
}

static bool gpu_read(struct reader *r)
{
    static const char *const names[] = { "i_chunks", "o_chunks", "s_chunks" };
    size_t n;
    int id;
    if (r->gpu >= 0)
        return wrong(r, "a gpu inside of gpu %d", r->gpu);
    for (int b = 0; b < MSCCL_BUFFERS; b++) {
        r->chunks[b] = -1;
        if (attribute(r, names[b], &n) &&
            !number_get(r, names[b], 0, MOST_CHUNKS, &r->chunks[b]))
            return false;
    }
    if (!number_get(r, "id", 0, r->a->gpus - 1, &id))
        return false;
    if (r->known[id])
        return wrong(r, "gpu %d is there twice", id);
    r->known[id] = true;
    r->gpu = is_empty(r) ? -1 : id;
    return true;
}

static bool tag_read(struct reader *r)
{
    struct msccl *a = r->a;
    if (tag_is(r, "step"))
        return step_read(r);
    if (tag_is(r, "tb"))
        return block_read(r);
    if (tag_is(r, "gpu"))
        return gpu_read(r);
    if (strncmp(r->tag, "/tb", 3) == 0)
        r->in_block = false;
    if (strncmp(r->tag, "/gpu", 4) == 0) {
        if (r->in_block)
            return wrong(r, "</gpu> inside of a thread block");
        r->gpu = -1;
    }
    r->over |= strncmp(r->tag, "/algo", 5) == 0;
    if (r->over && r->gpu >= 0)
        return wrong(r, "</algo> inside of gpu %d", r->gpu);
    if (tag_is(r, "algo")) {
        a->line = r->line;
        return text_get(r, "name", a->name, sizeof a->name) &&
               text_get(r, "coll", a->what, sizeof a->what) &&
               number_get(r, "ngpus", 1, MOST_GPUS, &a->gpus) &&
               number_get(r, "nchunksperloop", 1, MOST_CHUNKS, &a->chunks);
    }
    return true; /* ends of tags, comments, <?xml ...?> */
}

/* Has this gpu, whose thread blocks begin with `first`, the step that this one waits for? */
static bool can_come(const struct msccl *a, int first, const struct msccl_step *s)
{
    for (int i = first; i < a->nblocks && a->block[i].gpu == a->block[first].gpu; i++)
        if (a->block[i].id == s->block)
            return s->of_step < a->block[i].n;
    return s->block < 0;
}

static bool waits_are_right(struct reader *r)
{
    const struct msccl *a = r->a;
    for (int i = 0, first = 0; i < a->nblocks; i++) {
        const struct msccl_block *b = &a->block[i];
        first = a->block[first].gpu == b->gpu ? first : i;
        for (int k = b->first; k < b->first + b->n; k++) {
            const struct msccl_step *s = &a->step[k];
            r->line = s->line;
            if (!can_come(a, first, s))
                return wrong(r, "waits for step %d of thread block %d, which gpu %d has not",
                             s->of_step, s->block, b->gpu);
        }
    }
    return true;
}

/* NULL, with errno. */
static char *text_of(const char *path)
{
    FILE *f = fopen(path, "re");
    char *text = NULL;
    size_t bytes = 0;
    for (char *more; f && bytes < MOST_TEXT && (more = realloc(text, bytes + (1 << 16) + 1));) {
        text = more;
        size_t n = fread(text + bytes, 1, 1 << 16, f);
        text[bytes += n] = '\0';
        if (n < 1 << 16)
            break;
    }
    bool whole = f && text && feof(f);
    int error = whole ? 0 : errno ? errno : EFBIG;
    if (f)
        fclose(f);
    if (whole)
        return text;
    free(text);
    errno = error;
    return NULL;
}

bool msccl_read(struct msccl *a, const char *path)
{
    *a = (struct msccl){ .gpus = 0 };
    errno = 0;
    char *text = text_of(path);
    struct reader r = { .a = a, .at = text, .line = 1, .gpu = -1 };
    if (!text) {
        snprintf(a->wrong, sizeof a->wrong, "cannot be read: %s", strerror(errno));
        return false;
    }
    while (!a->wrong[0] && tag_next(&r) && tag_read(&r))
        ;
    free(text);
    if (!a->wrong[0] && a->nsteps > 0 && !r.over)
        wrong(&r, "the file ends before </algo>");
    if (!a->wrong[0] && a->nsteps == 0)
        wrong(&r, "there is no <step> of an <algo>");
    if (!a->wrong[0])
        waits_are_right(&r);
    return !a->wrong[0];
}

void msccl_close(struct msccl *a)
{
    free(a->block);
    free(a->step);
}

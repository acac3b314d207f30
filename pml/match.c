/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Matching by hash.  Posted receives sit in one table under their key as posted, wildcards
 * included, so a receive from any source with tag 7 is found under (ANY, 7).  A message is
 * looked up once for each kind of receives that is posted at all (exact, any source, any tag,
 * both); when several classes offer one, the smallest stamp, the receive posted first, wins.
 *
 *     posted:   one table    key (source|ANY, tag|ANY, step)    4 counters, one per kind
 *     arrived:  4 tables     key (source, tag, step), (ANY, tag, step), (source, ANY, step),
 *                            (ANY, ANY, step)
 *
 * Most messages come in the order in which their receives were posted, or nearly so.  Hence receives
 * are not filed at once: they wait in a row, oldest first, and a message goes to the first of a few
 * that accepts it.  When none of these does and there are more, all of them go into the table, and so
 * do later ones until it is empty again.  A post and its match cost a sixth less of a short message.
 *
 * A receive belongs to one kind and looks into that one table of arrived messages, whose
 * chains are in order of arrival.  Messages that came too early are mostly received in the order they
 * came, and most channels never see a wildcard.  So a receive asks the few oldest messages first; the
 * table of its kind is filled when it is for none of these, and kept up until no message is left.
 *
 * Tables are arrays of circular chains, doubled when there are more entries than chains; if
 * memory for that is out, the chains grow longer and all stays right.  A post and its match cost
 * about 5 ns at any depth.  Entries with equal keys are found oldest first at once; a long run of
 * equal keys delays only others that hash to the same chain.
 */
#include "pml/match.h"

#include <assert.h>
#include <stdlib.h>

enum { FIRST_CHAINS = 4, ROW_LOOKS = 4 };

struct table {
    struct match_link *chains;
    uint32_t mask, count;
    struct match_link first[FIRST_CHAINS];
};

struct match {
    struct match_head head;
    uint32_t posted_in[MATCH_CLASSES];
    uint32_t indexed; /* bit c: arrived[c] is kept up; 0 when no message is here */
    uint64_t stamps;
    struct table posted;
    struct table arrived[MATCH_CLASSES];
    struct match_link all; /* arrived messages, oldest first */
};

static inline uint32_t key_hash(struct match_key key)
{
    uint64_t h = ((uint64_t)(uint32_t)key.source << 32 | (uint32_t)key.tag) ^
                 (uint64_t)key.step * 0x9e3779b97f4a7c15u;
    h *= 0xd6e8feb86659fd93u;
    return (uint32_t)(h >> 32) ^ (uint32_t)(h >> 15);
}

static inline unsigned key_class(struct match_key key)
{
    return (key.source == PML_ANY_SOURCE ? MATCH_ANY_SOURCE_BIT : 0) |
           (key.tag == PML_ANY_TAG ? MATCH_ANY_TAG_BIT : 0);
}

/* What a receive of this kind would ask for to get a message with an exact key. */
static inline struct match_key key_in_class(struct match_key key, unsigned kind)
{
    if (kind & MATCH_ANY_SOURCE_BIT)
        key.source = PML_ANY_SOURCE;
    if (kind & MATCH_ANY_TAG_BIT)
        key.tag = PML_ANY_TAG;
    return key;
}

/* ---- chains and tables ---- */

static inline void list_init(struct match_link *list)
{
    list->next = list->prev = list;
}

static inline void list_append(struct match_link *list, struct match_link *link)
{
    link->prev = list->prev;
    link->next = list;
    list->prev->next = link;
    list->prev = link;
}

static inline void list_remove(struct match_link *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
}

static void table_init(struct table *table)
{
    table->chains = table->first;
    table->mask = FIRST_CHAINS - 1;
    table->count = 0;
    for (int i = 0; i < FIRST_CHAINS; i++)
        list_init(&table->first[i]);
}

static void table_clear(struct table *table)
{
    assert(table->count == 0);
    if (table->chains != table->first)
        free(table->chains);
}

/* Twice the chains.  Entries of one key come from one old chain, so they keep their order. */
static __attribute__((noinline)) void table_grow(struct table *table)
{
    uint32_t old = table->mask + 1;
    struct match_link *chains = malloc(2 * (size_t)old * sizeof *chains);
    if (!chains)
        return;
    for (uint32_t i = 0; i < 2 * old; i++)
        list_init(&chains[i]);
    for (uint32_t i = 0; i < old; i++) {
        struct match_link *link = table->chains[i].next;
        while (link != &table->chains[i]) {
            struct match_link *next = link->next;
            list_append(&chains[((struct match_node *)link)->hash & (2 * old - 1)], link);
            link = next;
        }
    }
    if (table->chains != table->first)
        free(table->chains);
    table->chains = chains;
    table->mask = 2 * old - 1;
}

static inline void table_enter(struct table *table, struct match_node *node)
{
    list_append(&table->chains[node->hash & table->mask], &node->link);
}

/* Apart, and the last thing that the usual case may do: so it saves no registers. */
static __attribute__((noinline)) void table_enter_grown(struct table *table,
                                                        struct match_node *node)
{
    table_grow(table);
    table_enter(table, node);
}

static inline void table_add(struct table *table, struct match_node *node, struct match_key key)
{
    node->key = key;
    node->hash = key_hash(key);
    if (__builtin_expect(++table->count > table->mask, 0))
        table_enter_grown(table, node);
    else
        table_enter(table, node);
}

static inline void table_remove(struct table *table, struct match_node *node)
{
    table->count--;
    list_remove(&node->link);
}

/* The oldest entry with this key. */
static inline struct match_node *table_find(const struct table *table, struct match_key key)
{
    uint32_t hash = key_hash(key);
    struct match_link *chain = &table->chains[hash & table->mask];
    for (struct match_link *link = chain->next; link != chain; link = link->next) {
        struct match_node *node = (struct match_node *)link;
        if (node->key.tag == key.tag && node->key.source == key.source &&
            node->key.step == key.step)
            return node;
    }
    return NULL;
}

/* ---- the pair of lists ---- */

struct match *match_new(void)
{
    struct match *match = malloc(sizeof *match);
    if (!match)
        return NULL;
    match->stamps = 0;
    match->head.arrived = match->head.posted_kinds = match->head.row_count = match->indexed = 0;
    list_init(&match->head.row);
    table_init(&match->posted);
    for (int kind = 0; kind < MATCH_CLASSES; kind++) {
        match->posted_in[kind] = 0;
        table_init(&match->arrived[kind]);
    }
    list_init(&match->all);
    return match;
}

static void table_reserve(struct table *table, size_t entries)
{
    for (uint32_t mask = 0; mask != table->mask && table->mask < entries;) {
        mask = table->mask; /* unless memory is out it grows */
        table_grow(table);
    }
}

void match_reserve(struct match *match, size_t entries)
{
    table_reserve(&match->posted, entries);
    table_reserve(&match->arrived[0], entries);
}

void match_delete(struct match *match)
{
    assert(match->head.row_count == 0);
    table_clear(&match->posted);
    for (int kind = 0; kind < MATCH_CLASSES; kind++)
        table_clear(&match->arrived[kind]);
    free(match);
}

void match_post_table(struct match *match, struct match_posted *posted)
{
    unsigned kind = key_class(posted->node.key);
    posted->stamp = match->stamps++;
    match->posted_in[kind]++;
    match->head.posted_kinds |= 1u << kind;
    table_add(&match->posted, &posted->node, posted->node.key);
}

/* The row goes into the table, in order. */
static void row_file(struct match *match)
{
    struct match_link *row = &match->head.row, *next;
    for (struct match_link *link = row->next; link != row; link = next) {
        next = link->next;
        match_post_table(match, (struct match_posted *)link);
    }
    list_init(row);
    match->head.row_count = 0;
}

static inline void posted_remove(struct match *match, struct match_posted *posted,
                                 unsigned kind)
{
    if (--match->posted_in[kind] == 0)
        match->head.posted_kinds &= ~(1u << kind);
    table_remove(&match->posted, &posted->node);
}

void match_unpost(struct match *match, struct match_posted *posted)
{
    if (match->head.row_count > 0) {
        match->head.row_count--;
        list_remove(&posted->node.link);
    } else {
        posted_remove(match, posted, key_class(posted->node.key));
    }
}

/* Wildcards are posted: of each kind the oldest, and the oldest of them. */
static __attribute__((noinline)) struct match_posted *arrive_among_kinds(struct match *match,
                                                                         struct match_key key)
{
    struct match_posted *best = NULL;
    for (uint32_t kinds = match->head.posted_kinds; kinds; kinds &= kinds - 1) {
        unsigned kind = (unsigned)__builtin_ctz(kinds);
        struct match_posted *offer =
            (struct match_posted *)table_find(&match->posted, key_in_class(key, kind));
        if (offer && (!best || offer->stamp < best->stamp))
            best = offer;
    }
    if (best)
        match_unpost(match, best);
    return best;
}

static struct match_posted *arrive_in_table(struct match *match, struct match_key key)
{
    if (match->head.posted_kinds == 0)
        return NULL;
    if (match->head.posted_kinds & ~1u)
        return arrive_among_kinds(match, key);
    struct match_posted *posted = (struct match_posted *)table_find(&match->posted, key);
    if (posted)
        posted_remove(match, posted, 0);
    return posted;
}

struct match_posted *match_few_accept(const struct match *match, struct match_key key)
{
    const struct match_link *row = &match->head.row;
    struct match_link *link = row->next;
    for (int looks = 0; looks < ROW_LOOKS && link != row; looks++, link = link->next)
        if (match_accepts(&((struct match_node *)link)->key, key))
            return (struct match_posted *)link;
    return NULL;
}

/* Of a row the few oldest are asked, and only then what is further behind. */
struct match_posted *match_arrive_other(struct match *match, struct match_key key)
{
    struct match_posted *posted = match_few_accept(match, key);
    if (posted) {
        match_row_goes(match, posted);
        return posted;
    }
    if (match->head.row_count > ROW_LOOKS)
        row_file(match);
    return arrive_in_table(match, key);
}

bool match_none_accepts(const struct match *match, struct match_key key)
{
    const struct match_link *row = &match->head.row;
    if (match->head.row_count > ROW_LOOKS)
        return false;
    for (const struct match_link *link = row->next; link != row; link = link->next)
        if (match_accepts(&((const struct match_node *)link)->key, key))
            return false;
    for (uint32_t kinds = match->head.posted_kinds; kinds; kinds &= kinds - 1)
        if (table_find(&match->posted, key_in_class(key, (unsigned)__builtin_ctz(kinds))))
            return false;
    return true;
}

/* The first one of this chain or of a later one. */
static struct match_posted *posted_from(const struct table *posted, uint32_t chain)
{
    for (uint32_t i = chain; posted->count > 0 && i <= posted->mask; i++)
        if (posted->chains[i].next != &posted->chains[i])
            return (struct match_posted *)posted->chains[i].next;
    return NULL;
}

struct match_posted *match_any_posted(struct match *match)
{
    row_file(match);
    return posted_from(&match->posted, 0);
}

struct match_posted *match_next_posted(struct match *match, const struct match_posted *posted)
{
    uint32_t chain = posted->node.hash & match->posted.mask;
    struct match_link *next = posted->node.link.next;
    if (next != &match->posted.chains[chain])
        return (struct match_posted *)next;
    return posted_from(&match->posted, chain + 1);
}

static void index_add(struct match *match, unsigned kind, struct match_arrived *arrived,
                      struct match_key key)
{
    table_add(&match->arrived[kind], &arrived->node[kind], key_in_class(key, kind));
}

static __attribute__((noinline)) void
indexes_add(struct match *match, struct match_arrived *arrived, struct match_key key)
{
    for (unsigned kind = 0; kind < MATCH_CLASSES; kind++)
        if (match->indexed & 1u << kind)
            index_add(match, kind, arrived, key);
}

void match_store(struct match *match, struct match_arrived *arrived, struct match_key key)
{
    match->head.arrived++;
    list_append(&match->all, &arrived->all);
    arrived->node[0].key = key; /* for indexes made later */
    if (match->indexed)
        indexes_add(match, arrived, key);
}

static struct match_arrived *from_all(struct match_link *link)
{
    return (struct match_arrived *)((char *)link - offsetof(struct match_arrived, all));
}

/* A receive of a kind looks for what none of the oldest messages is: file them all, in order. */
static void index_build(struct match *match, unsigned kind)
{
    match->indexed |= 1u << kind;
    for (struct match_link *link = match->all.next; link != &match->all; link = link->next)
        index_add(match, kind, from_all(link), from_all(link)->node[0].key);
}

static __attribute__((noinline)) struct match_arrived *find_in_index(struct match *match,
                                                                     struct match_key key)
{
    unsigned kind = key_class(key);
    if (!(match->indexed & 1u << kind))
        index_build(match, kind);
    struct match_node *node = table_find(&match->arrived[kind], key);
    return node ? (struct match_arrived *)(node - kind) : NULL;
}

struct match_arrived *match_find(struct match *match, struct match_key key)
{
    struct match_link *link = match->all.next;
    if (match->indexed == 0)
        for (int looks = 0; looks < ROW_LOOKS && link != &match->all;
             looks++, link = link->next)
            if (match_accepts(&key, from_all(link)->node[0].key))
                return from_all(link);
    return link == &match->all ? NULL : find_in_index(match, key);
}

/* The last one takes the indexes with it, which are empty then. */
static __attribute__((noinline)) void indexes_remove(struct match *match,
                                                     struct match_arrived *arrived)
{
    for (unsigned kind = 0; kind < MATCH_CLASSES; kind++)
        if (match->indexed & 1u << kind)
            table_remove(&match->arrived[kind], &arrived->node[kind]);
    if (match->head.arrived == 0)
        match->indexed = 0;
}

void match_take(struct match *match, struct match_arrived *arrived)
{
    match->head.arrived--;
    list_remove(&arrived->all);
    if (match->indexed)
        indexes_remove(match, arrived);
}

size_t match_posted_count(const struct match *match)
{
    return match->posted.count + match->head.row_count;
}

size_t match_arrived_count(const struct match *match)
{
    return match->head.arrived;
}

struct match_arrived *match_oldest(struct match *match)
{
    return match->head.arrived ? from_all(match->all.next) : NULL;
}

struct match_arrived *match_next(struct match *match, struct match_arrived *arrived)
{
    return arrived->all.next == &match->all ? NULL : from_all(arrived->all.next);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The text of process sets: what the launcher writes of a plan, read again.
 */
#include "runtime/psets.h"

#include "launcher/psets.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 50 };

static int read_ranks(struct pset *set, int *ranks)
{
    struct pset_range range;
    int n = 0;
    while (pset_next_range(set, &range))
        for (int i = 0; i < range.n; i++)
            ranks[n++] = range.first + i * range.stride;
    return n;
}

START_TEST(what_is_written_is_read)
{
    srand(2);
    for (int round = 0; round < 500; round++) {
        int sets[3][MOST], n[3], ranks[MOST];
        char *text = NULL;
        size_t bytes;
        FILE *to = open_memstream(&text, &bytes);
        struct pset_writer writer;
        for (int s = 0; s < 3; s++) {
            char name[] = { (char)('a' + s), '\0' };
            n[s] = rand() % MOST;
            pset_begin(&writer, to, name);
            for (int i = 0; i < n[s]; i++) {
                sets[s][i] = rand() % 3 && i > 0 ? sets[s][i - 1] + 2 : rand() % 1000;
                pset_add(&writer, sets[s][i]);
            }
            pset_end(&writer);
        }
        fclose(to);
        const char *at = text;
        struct pset set;
        for (int s = 0; s < 3; s++) {
            ck_assert(psets_next(&at, &set));
            ck_assert(set.name_chars == 1 && set.name[0] == 'a' + s);
            ck_assert_int_eq(read_ranks(&set, ranks), n[s]);
            ck_assert(memcmp(ranks, sets[s], (size_t)n[s] * sizeof *ranks) == 0);
        }
        ck_assert(!psets_next(&at, &set));
        free(text);
    }
}
END_TEST

START_TEST(names)
{
    struct pset set = { "ocean\t0:1:1\n", 5, NULL };
    ck_assert(pset_is_called(&set, "ocean") && !pset_is_called(&set, "oceans"));
    ck_assert(!pset_is_called(&set, "ocea") && !pset_is_called(&set, "Ocean"));
    ck_assert(pset_may_be_called("ocean") && pset_may_be_called("xmpi://app/0"));
    ck_assert(!pset_may_be_called("") && !pset_may_be_called("a b"));
    ck_assert(!pset_may_be_called("a,b") && !pset_may_be_called("MPI://world"));
    char long_name[1025];
    memset(long_name, 'x', sizeof long_name);
    long_name[1024] = '\0';
    ck_assert(!pset_may_be_called(long_name));
    long_name[1023] = '\0';
    ck_assert(pset_may_be_called(long_name));
    const char *nothing = "", *broken = "name without ranges";
    ck_assert(!psets_next(&nothing, &set) && !psets_next(&broken, &set));
}
END_TEST

static char ocean[] = "ocean", both[] = "both";

START_TEST(a_plan)
{
    char *first[] = { ocean, both }, *second[] = { both, ocean, both };
    struct app apps[] = { { .np = 2, .psets = { first, 2 } },
                          { .np = 1 },
                          { .np = 2, .psets = { second, 1 } } };
    struct planned ranks[] = {
        { 0, 0, 0, 0 }, { 1, 0, 0, 1 }, { 2, 1, 0, 2 }, { 3, 2, 0, 3 }, { 4, 2, 0, 4 }
    };
    char name[] = "here";
    struct host host = { .name = name };
    struct placement places[5] = { { .place = { 0, -1, 0, 0 } },
                                   { .place = { 1, -1, 0, 0 } },
                                   { .place = { -1, -1, 0, 0 } },
                                   { .place = { 0, -1, 0, 0 } },
                                   { .place = { 1, 2, 0, 0 } } };
    struct options options = { .apps = apps, .napps = 3 };
    struct plan plan = { .hosts = &host, .nhosts = 1, .nranks = 5, .ranks = ranks };
    char *text = psets_write(&options, &plan);
    ck_assert_str_eq(text, "ocean\t0:2:1\n"
                           "both\t0:2:1,3:2:1\n"
                           "xmpi://app/0\t0:2:1\n"
                           "xmpi://app/1\t2:1:1\n"
                           "xmpi://app/2\t3:2:1\n"
                           "xmpi://host/here\t0:5:1\n");
    free(text);
    plan.placements = places;
    options.napps = 1;
    apps[0].psets.n = 0;
    text = psets_write(&options, &plan);
    ck_assert_str_eq(text, "xmpi://host/here\t0:5:1\n"
                           "xmpi://host/here/package/0\t0:2:3\n"
                           "xmpi://host/here/package/1\t1:2:3\n"
                           "xmpi://host/here/numa/2\t4:1:1\n");
    free(text);
}
END_TEST

UNIT_MAIN("psets", what_is_written_is_read, names, a_plan)

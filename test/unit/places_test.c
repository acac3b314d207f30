/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Places of ranks on one node, from a boot segment that is filled in here, and plans that use them.
 */
#include "coll/places.h"

#include "coll/plan.h"
#include "runtime/boot.h"
#include "runtime/ranks.h"

#include "test/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { RANKS = 8 };

static void node_of(const char *packages, const char *numas, const char *caches)
{
    size_t bytes = bootseg_bytes(RANKS, RANKS, NULL);
    struct boot_header *segment =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(segment != MAP_FAILED);
    bootseg_format(segment, "test", RANKS, RANKS, NULL);
    boot = (struct boot){ .size = RANKS, .nlocal = RANKS, .nnodes = 1, .segment = segment };
    for (int r = 0; r < RANKS; r++)
        boot_record(r)->place =
            (struct boot_place){ (int16_t)(packages[r] - '0'), (int16_t)(numas[r] - '0'),
                                 (int16_t)(caches[r] - '0'), -1 };
}

static void forget_node(void)
{
    munmap(boot.segment, boot.segment->bytes);
    boot.segment = NULL;
}

/* The levels of n ranks first, first + step, ... as text: "00004444 00224466". */
static void expect(int n, int first, int step, const char *wanted)
{
    char text[RANKS * 4 + 4] = "", digit[2] = "0";
    struct ranks *members = ranks_range(n, first, step);
    struct places *places = NULL;
    int nodes = 1;
    ck_assert_int_eq(places_find(members, &places, &nodes), 0);
    ck_assert_int_eq(nodes, 1);
    for (int level = 0; places && level < places->levels; level++) {
        strcat(text, level ? " " : "");
        for (int r = 0; r < n; r++) {
            digit[0] = (char)('0' + places->first[level][r]);
            strcat(text, digit);
        }
    }
    ck_assert_str_eq(text, wanted);
    ck_assert_ptr_eq(places_share(places), places);
    places_drop(places);
    places_drop(places);
    ranks_drop(members);
}

START_TEST(packages_and_caches)
{
    node_of("00001111", "00001111", "00112233");
    expect(8, 0, 1, "00004444 00224466");
    expect(4, 0, 1, "0022"); /* one package is no level */
    expect(4, 0, 2, "0022"); /* caches have one rank each: no level */
    expect(3, 1, 1, "011");  /* ranks 1 2 3 are 0 1 2 of the team */
    expect(2, 0, 1, "");     /* together */
    expect(1, 0, 1, "");
    forget_node();
}
END_TEST

START_TEST(numbers_that_begin_again)
{
    node_of("00001111", "01010101", "00000000"); /* numa nodes are counted within packages */
    expect(8, 0, 1, "00004444 01014545");
    forget_node();
}
END_TEST

START_TEST(ranks_dealt_out)
{
    node_of("01010101", "01010101", "02130213");
    expect(8, 0, 1, "01010101 01230123");
    forget_node();
}
END_TEST

START_TEST(who_is_not_bound_has_no_place)
{
    node_of("0000111/", "00001111", "00112233"); /* '/' is -1 */
    expect(7, 0, 1, "0000444 0022446");
    expect(8, 0, 1, "00004444 00224466"); /* by NUMA node and cache */
    node_of("////////", "////////", "////////");
    expect(8, 0, 1, "");
    forget_node();
}
END_TEST

UNIT_MAIN("places", packages_and_caches, numbers_that_begin_again, ranks_dealt_out,
          who_is_not_bound_has_no_place)

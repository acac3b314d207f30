/* SPDX-License-Identifier: BSD-3-Clause */
#include "pml/shelf.h"

#include "test/unit/unit.h"

#include <string.h>

enum { BYTES = 4096, MANY = SHELF_BYTES / BYTES + 3 };

static char *pieces[MANY];

static int take_all(void)
{
    int foreign = 0;
    for (int i = 0; i < MANY; i++) {
        pieces[i] = shelf_take(3, BYTES);
        ck_assert_ptr_nonnull(pieces[i]);
        memset(pieces[i], i, BYTES);
        foreign += shelf_is_foreign(pieces[i]);
    }
    for (int i = 0; i < MANY; i++)
        for (int k = 0; k < BYTES; k += 64)
            ck_assert_int_eq(pieces[i][k], (char)i);
    return foreign;
}

static void put_all(void)
{
    for (int i = 0; i < MANY; i++)
        shelf_put(3, pieces[i]);
}

/* And after it was closed again; twice, as free pieces are used first. */
START_TEST(what_a_shelf_lacks_malloc_has)
{
    for (int life = 0; life < 2; life++) {
        int foreign = take_all();
        ck_assert(foreign == 3 || foreign == MANY); /* MANY: under a sanitizer */
        put_all();
        ck_assert_int_eq(take_all(), foreign);
        put_all();
        shelves_close();
    }
}
END_TEST

START_TEST(pieces_are_used_again)
{
    char *one = shelf_take(0, 64), *other = shelf_take(SHELVES - 1, 200);
    bool foreign = shelf_is_foreign(one);
    ck_assert_ptr_ne(one, other);
    shelf_put(0, one);
    char *again = shelf_take(0, 64);
    ck_assert(foreign || again == one);
    shelf_put(0, again);
    shelf_put(SHELVES - 1, other);
    shelves_close();
}
END_TEST

UNIT_MAIN("shelf", what_a_shelf_lacks_malloc_has, pieces_are_used_again)

/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/object.h"

#include "test/unit/unit.h"

#include <string.h>
#include <sys/resource.h>

START_TEST(new_objects_are_zero_aligned_and_live)
{
    for (size_t size = sizeof(struct object); size < 10000; size += 37) {
        struct object *o = object_new(OBJECT_COMM, size);
        ck_assert_ptr_nonnull(o);
        ck_assert_uint_eq((uintptr_t)o % OBJECT_GRAIN, 0);
        ck_assert(object_is(o, OBJECT_COMM));
        ck_assert(!object_is(o, OBJECT_GROUP));
        ck_assert_int_eq(o->refs, 1);
        for (size_t i = sizeof *o; i < size; i++)
            ck_assert_int_eq(((char *)o)[i], 0);
        memset(o + 1, 0xee, size - sizeof *o);
        if (size % 2)
            object_delete(o);
    }
}
END_TEST

START_TEST(nothing_is_an_object_before_the_first_one)
{
    struct object on_stack = { .kind = OBJECT_COMM };
    ck_assert_ptr_null(object_base);
    ck_assert(!object_is(&on_stack, OBJECT_COMM));
    ck_assert(!object_is(NULL, OBJECT_COMM));
    ck_assert_ptr_null(object_from_id(OBJECT_FIRST_ID, OBJECT_COMM));
}
END_TEST

START_TEST(deleted_handles_are_stale_until_the_place_is_taken)
{
    struct object *a = object_new(OBJECT_TYPE, 200);
    int id = object_id(a);
    object_delete(a);
    ck_assert(!object_is(a, OBJECT_TYPE));
    ck_assert_ptr_null(object_from_id(id, OBJECT_TYPE));
    ck_assert_ptr_ne(object_new(OBJECT_TYPE, 300), a); /* another size: another place */
    struct object *b = object_new(OBJECT_OP, 193);
    ck_assert_ptr_eq(b, a);
    ck_assert(!object_is(a, OBJECT_TYPE));
    ck_assert(object_is(a, OBJECT_OP));
}
END_TEST

START_TEST(references_say_when_to_tear_down)
{
    struct object *o = object_new(OBJECT_GROUP, 64);
    object_hold(o);
    ck_assert(!object_drop(o));
    ck_assert(object_drop(o));
    object_delete(o);
}
END_TEST

START_TEST(ids_go_both_ways)
{
    enum { N = 5000 };
    static struct object *all[N];
    for (int i = 0; i < N; i++)
        all[i] = object_new(OBJECT_REQUEST, 64 + (size_t)(i % 7) * 64);
    for (int i = 0; i < N; i++) {
        int id = object_id(all[i]);
        ck_assert_int_ge(id, OBJECT_FIRST_ID);
        ck_assert_ptr_eq(object_from_id(id, OBJECT_REQUEST), all[i]);
        ck_assert_ptr_null(object_from_id(id, OBJECT_COMM));
    }
    const int wrong[] = { -1, 0, OBJECT_FIRST_ID - 1, INT32_MAX, INT32_MIN };
    for (int i = 0; i < 5; i++)
        ck_assert_ptr_null(object_from_id(wrong[i], OBJECT_REQUEST));
}
END_TEST

/* Any bit pattern is safe to ask about, and none but the live handles is an object. */
START_TEST(foreign_bit_patterns_are_no_objects)
{
    struct object *live = object_new(OBJECT_COMM, 128);
    uint64_t random = 88172645463325252ull;
    for (int i = 0; i < 1000000; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        uintptr_t bits = random;
        if (i % 3 == 1)
            bits = (uintptr_t)object_base + random % ((uint64_t)4 << 30);
        if (i % 3 == 2)
            bits = (uintptr_t)live + random % 4096 - 2048;
        if (bits != (uintptr_t)live)
            ck_assert(!object_is((void *)bits, OBJECT_COMM));
        object_from_id((int)random, OBJECT_COMM);
    }
    for (int i = 0; i < 4096; i++) /* the predefined handles */
        ck_assert(!object_is((void *)(uintptr_t)i, OBJECT_COMM));
}
END_TEST

/* Many objects come and go; each keeps its own contents. */
START_TEST(churn_keeps_contents_apart)
{
    enum { N = 1000 };
    static struct {
        struct object *object;
        size_t size;
    } slots[N];
    uint32_t random = 1;
    for (int i = 0; i < 300000; i++) {
        random = random * 1664525u + 1013904223u;
        int s = (int)(random >> 8) % N;
        if (slots[s].object) {
            char *bytes = (char *)(slots[s].object + 1);
            ck_assert_int_eq(bytes[0], (char)s);
            ck_assert_int_eq(bytes[slots[s].size - sizeof(struct object) - 1], (char)s);
            object_delete(slots[s].object);
            slots[s].object = NULL;
        } else {
            slots[s].size = 13 + (random >> 20);
            slots[s].object = object_new(OBJECT_INFO, slots[s].size);
            memset(slots[s].object + 1, s, slots[s].size - sizeof(struct object));
        }
    }
}
END_TEST

START_TEST(a_small_address_space_is_enough)
{
    struct rlimit limit = { (rlim_t)300 << 20, (rlim_t)300 << 20 };
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    struct object *o = object_new(OBJECT_COMM, 512);
#ifdef __SANITIZE_ADDRESS__
    (void)o; /* the sanitizer's own shadow exceeds any such limit */
#else
    ck_assert_ptr_nonnull(o);
    int made = 0;
    while (object_new(OBJECT_COMM, 1 << 20))
        made++;
    ck_assert_int_gt(made, 10); /* and running out is an answer, not a crash */
    ck_assert(object_is(o, OBJECT_COMM));
#endif
}
END_TEST

UNIT_MAIN("object", new_objects_are_zero_aligned_and_live,
          nothing_is_an_object_before_the_first_one,
          deleted_handles_are_stale_until_the_place_is_taken, references_say_when_to_tear_down,
          ids_go_both_ways, foreign_bit_patterns_are_no_objects, churn_keeps_contents_apart,
          a_small_address_space_is_enough)

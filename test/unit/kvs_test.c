/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/kvs.h"

#include "test/unit/unit.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int freed;
static struct kvs kvs;

static void count_free(void *value)
{
    (void)value;
    freed++;
}

static void fresh(void)
{
    kvs = (struct kvs){ .value_free = count_free };
    freed = 0;
}

static struct kvs_process process(const char *job, uint32_t rank, int node)
{
    struct kvs_process p = { .rank = rank, .node = node };
    snprintf(p.job, sizeof p.job, "%s", job);
    return p;
}

static void *number(intptr_t n)
{
    return (void *)n;
}

/* The value that an asker sees, 0 for none. */
static intptr_t seen(const struct kvs_process *asker, const char *key, enum kvs_range range)
{
    const struct kvs_entry *entry = kvs_find(&kvs, asker, key, range);
    return entry ? (intptr_t)entry->value : 0;
}

START_TEST(a_range_says_who_sees_a_name)
{
    fresh();
    struct kvs_process publisher = process("a", 1, 0), same_node = process("b", 1, 0);
    struct kvs_process same_job = process("a", 2, 1), stranger = process("b", 9, 7);
    const char *const keys[] = { "process", "node", "job", "session" };
    for (int range = 0; range < KVS_NRANGES; range++)
        ck_assert(kvs_publish(&kvs, &publisher, keys[range], (enum kvs_range)range,
                              KVS_WITH_SESSION, number(range + 1)));
    const struct {
        const struct kvs_process *asker;
        bool sees[KVS_NRANGES];
    } rows[] = {
        { &publisher, { true, true, true, true } },
        { &same_node, { false, true, false, true } },
        { &same_job, { false, false, true, true } },
        { &stranger, { false, false, false, true } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int range = 0; range < KVS_NRANGES; range++)
            ck_assert_int_eq(seen(rows[i].asker, keys[range], KVS_SESSION),
                             rows[i].sees[range] ? range + 1 : 0);
    kvs_clear(&kvs);
    ck_assert_int_eq(freed, KVS_NRANGES);
}
END_TEST

START_TEST(a_lookup_may_be_narrower_than_a_name)
{
    fresh();
    struct kvs_process publisher = process("a", 1, 0), other_job = process("b", 1, 1);
    struct kvs_process same_job = process("a", 2, 1);
    ck_assert(kvs_publish(&kvs, &publisher, "k", KVS_SESSION, KVS_WITH_SESSION, number(5)));
    ck_assert_int_eq(seen(&other_job, "k", KVS_SESSION), 5);
    ck_assert_int_eq(seen(&other_job, "k", KVS_JOB), 0);
    ck_assert_int_eq(seen(&same_job, "k", KVS_JOB), 5);
    ck_assert_int_eq(seen(&same_job, "k", KVS_PROCESS), 0);
    kvs_clear(&kvs);
}
END_TEST

START_TEST(a_key_is_taken_once_per_range)
{
    fresh();
    struct kvs_process a = process("a", 0, 0), b = process("a", 1, 0), c = process("c", 0, 0);
    ck_assert(kvs_publish(&kvs, &a, "k", KVS_JOB, KVS_WITH_SESSION, number(1)));
    ck_assert(!kvs_publish(&kvs, &b, "k", KVS_JOB, KVS_WITH_SESSION, number(2)));
    ck_assert(kvs_publish(&kvs, &c, "k", KVS_JOB, KVS_WITH_SESSION, number(3)));
    ck_assert(kvs_publish(&kvs, &b, "k", KVS_PROCESS, KVS_WITH_SESSION, number(4)));
    ck_assert_int_eq(freed, 0); /* what was refused stays with the caller */
    ck_assert_int_eq(seen(&a, "k", KVS_SESSION), 1);
    ck_assert_int_eq(seen(&b, "k", KVS_SESSION), 4); /* the narrowest */
    ck_assert_int_eq(seen(&c, "k", KVS_SESSION), 3);
    kvs_clear(&kvs);
}
END_TEST

START_TEST(names_end_with_their_life)
{
    fresh();
    struct kvs_process p = process("a", 0, 0);
    const char *const keys[] = { "read", "process", "program", "session" };
    for (int life = KVS_FIRST_READ; life <= KVS_WITH_SESSION; life++)
        ck_assert(
            kvs_publish(&kvs, &p, keys[life], KVS_SESSION, (enum kvs_life)life, number(1)));
    for (int life = KVS_FIRST_READ; life <= KVS_WITH_SESSION; life++)
        kvs_was_read(&kvs, kvs_find(&kvs, &p, keys[life], KVS_SESSION));
    ck_assert_int_eq(freed, 1);
    ck_assert_int_eq(seen(&p, "read", KVS_SESSION), 0);
    struct kvs_process other = process("a", 1, 0);
    kvs_ended(&kvs, &other, KVS_WITH_PROCESS);
    ck_assert_int_eq(seen(&p, "process", KVS_SESSION), 1);
    kvs_ended(&kvs, &p, KVS_WITH_PROCESS);
    ck_assert_int_eq(seen(&p, "process", KVS_SESSION), 0);
    ck_assert_int_eq(seen(&p, "program", KVS_SESSION), 1);
    kvs_ended(&kvs, &p, KVS_WITH_PROGRAM);
    ck_assert_int_eq(seen(&p, "program", KVS_SESSION), 0);
    ck_assert_int_eq(seen(&p, "session", KVS_SESSION), 1);
    kvs_clear(&kvs);
    ck_assert_int_eq(freed, 4);
}
END_TEST

START_TEST(only_the_publisher_unpublishes)
{
    fresh();
    struct kvs_process a = process("a", 0, 0), b = process("a", 1, 0);
    kvs_publish(&kvs, &a, "k", KVS_SESSION, KVS_WITH_SESSION, number(1));
    kvs_publish(&kvs, &a, "m", KVS_JOB, KVS_WITH_SESSION, number(2));
    ck_assert_int_eq(kvs_unpublish(&kvs, &b, "k", KVS_SESSION), 0);
    ck_assert_int_eq(kvs_unpublish(&kvs, &a, "k", KVS_JOB), 0); /* it is wider */
    ck_assert_int_eq(kvs_unpublish(&kvs, &a, "k", KVS_SESSION), 1);
    ck_assert_int_eq(kvs_unpublish(&kvs, &a, NULL, KVS_SESSION), 1);
    ck_assert_uint_eq(kvs.n, 0);
    kvs_clear(&kvs);
}
END_TEST

START_TEST(many_names_and_taking_them_back)
{
    fresh();
    struct kvs_process p = process("a", 0, 0);
    char key[32];
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "key%d", i);
        ck_assert(kvs_publish(&kvs, &p, key, KVS_SESSION, KVS_WITH_SESSION, number(i + 1)));
    }
    kvs_rollback(&kvs, 700);
    ck_assert_int_eq(freed, 300);
    ck_assert_int_eq(seen(&p, "key699", KVS_SESSION), 700);
    ck_assert_int_eq(seen(&p, "key700", KVS_SESSION), 0);
    kvs_clear(&kvs);
    ck_assert_int_eq(freed, 1000);
}
END_TEST

UNIT_MAIN("kvs", a_range_says_who_sees_a_name, a_lookup_may_be_narrower_than_a_name,
          a_key_is_taken_once_per_range, names_end_with_their_life,
          only_the_publisher_unpublishes, many_names_and_taking_them_back)

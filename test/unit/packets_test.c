/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory for packets that go over the network: whatever was sent before, and whatever is under way
 * to those who do not read, there is one for everybody else.
 */
#include "pml/ofi/nic.h"
#include "pml/ofi/trunk.h"
#include "test/unit/unit.h"

enum { MOST = 1 << 18, SHORT = 100, LONG = FRAME_PAYLOAD };

static struct fi_domain_attr no_keys;
static struct fi_info plain = { .domain_attr = &no_keys };
static struct frame *taken[MOST];
static int ntaken;

static void open_all(void)
{
    nics[0].info = &plain;
    ntaken = 0;
}

static void close_all(void)
{
    frames_close();
    nics[0].info = NULL;
}

/* As many packets of so many bytes as there are. */
static int take(size_t bytes)
{
    int before = ntaken;
    struct frame *frame;
    while (ntaken < MOST && (frame = frame_new(bytes, false)))
        taken[ntaken++] = frame;
    ck_assert_int_lt(ntaken, MOST);
    return ntaken - before;
}

static void give_all(void)
{
    while (ntaken > 0)
        frame_free(taken[--ntaken]);
}

START_TEST(long_ones_that_have_been_leave_room_for_short_ones)
{
    open_all();
    int most = take(LONG);
    ck_assert_int_gt(most, 500);
    give_all();
    for (size_t bytes = 0; bytes <= LONG; bytes += 1000) {
        struct frame *frame = frame_new(bytes, false);
        ck_assert_ptr_nonnull(frame);
        frame_free(frame);
    }
    ck_assert_int_ge(take(SHORT), most);
    give_all();
    ck_assert_int_eq(take(LONG), most);
    close_all();
}
END_TEST

START_TEST(long_data_go_in_short_packets_where_there_are_no_others)
{
    open_all();
    ck_assert_int_gt(take(SHORT), 50000);
    give_all();
    size_t bytes = LONG;
    ck_assert_ptr_null(frame_new(bytes, false));
    struct frame *frame = frame_shorter(&bytes, false);
    ck_assert_ptr_nonnull(frame);
    ck_assert_uint_ge(bytes, SHORT);
    ck_assert_uint_lt(bytes, LONG);
    frame_free(frame);
    close_all();
}
END_TEST

START_TEST(a_peer_to_whom_nothing_goes_may_have_one)
{
    open_all();
    take(LONG);
    take(SHORT);
    size_t bytes = LONG;
    ck_assert_ptr_null(frame_new(SHORT, false));
    ck_assert_ptr_null(frame_shorter(&bytes, false));
    struct frame *first = frame_new(SHORT, true), *other = frame_shorter(&bytes, true);
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_nonnull(other);
    ck_assert_uint_ge(bytes, SHORT);
    ck_assert_ptr_null(frame_new(SHORT, false)); /* they are for such peers alone */
    frame_free(first);
    frame_free(other);
    ck_assert_ptr_null(frame_new(SHORT, false));
    close_all();
}
END_TEST

START_TEST(words_never_wait_for_packets)
{
    open_all();
    take(LONG);
    take(SHORT);
    struct frame *words[2000];
    for (int i = 0; i < 2000; i++)
        ck_assert_ptr_nonnull(words[i] = frame_word());
    for (int i = 0; i < 2000; i++)
        frame_free(words[i]);
    close_all();
}
END_TEST

UNIT_MAIN("packets", long_ones_that_have_been_leave_room_for_short_ones,
          long_data_go_in_short_packets_where_there_are_no_others,
          a_peer_to_whom_nothing_goes_may_have_one, words_never_wait_for_packets)

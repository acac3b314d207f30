/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cards travel in batches: whoever publishes rings (SIGURG), and what has come until the launcher
 * looks goes in one frame.  A record without a card costs one load per look.
 *
 * A rank that was asked for its card and leaves MPI without one, or ends, is told of as well: nobody waits for
 * it then.
 */
#include "launcher/cards.h"

#include <stdlib.h>

static bool has_left(const struct rank *rank, const struct boot_rank *record)
{
    return atomic_load(&record->contact.asked) && (rank->ended || bootseg_has_left(record));
}

static void tell(const struct job *job, int number, const void *card, uint32_t bytes,
                 struct pack *list)
{
    pack_number(list, job_world(job, number));
    pack_bytes(list, card, bytes);
}

/* Pack what is new of one rank: how many things.  One with a card may be back, for a session, until it ends. */
static int collect(struct job *job, int number, struct pack *list)
{
    struct rank *rank = &job->ranks[number];
    const struct boot_rank *record = bootseg_rank(job->segment, job->plan->ranks[number].local);
    bool left = has_left(rank, record); /* first: it may publish and leave meanwhile */
    uint32_t bytes = atomic_load_explicit(&record->contact.bytes, memory_order_acquire);
    int n = 0;
    if (bytes > sizeof record->contact.card)
        return 0;
    if (bytes && !rank->card_sent) {
        rank->card_sent = true;
        rank->left_sent = false;
        tell(job, number, record->contact.card, bytes, list);
        n++;
    }
    if (left && !rank->left_sent && (!bytes || rank->ended)) {
        rank->left_sent = true;
        tell(job, number, record->contact.card, 0, list);
        n++;
    }
    return n;
}

bool cards_collect(struct job *job, struct pack *pack)
{
    struct pack list = { 0 };
    int n = 0;
    for (int i = 0; job->segment && i < job->nranks; i++)
        n += collect(job, i, &list);
    if (n) {
        pack_number(pack, n);
        pack_raw(pack, list.bytes, list.n);
    }
    pack_free(&list);
    return n > 0;
}

bool cards_hand_out(struct job *job, struct unpack *from)
{
    int n = unpack_int(from, 0, 2 * job->plan->world);
    for (int i = 0; i < n && !from->bad; i++) {
        size_t bytes;
        int world = unpack_int(from, 0, job->plan->world - 1);
        const char *card = unpack_bytes(from, &bytes);
        from->bad |= bytes > BOOT_CONTACT_BYTES;
        if (!from->bad && job->segment)
            boot_card_other(job->segment, world, card, bytes);
    }
    if (job->segment)
        boot_wake_published(job->segment);
    return !from->bad;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cards travel in batches: whoever publishes rings (SIGURG), and what has come until the launcher
 * looks goes in one frame.  A record without a card costs one load per look.
 */
#include "launcher/cards.h"

#include <stdlib.h>

bool cards_collect(struct job *job, struct pack *pack)
{
    struct pack list = { 0 };
    int n = 0;
    for (int i = 0; job->segment && i < job->nranks; i++) {
        const struct boot_contact *contact =
            &bootseg_rank(job->segment, job->plan->ranks[i].local)->contact;
        uint32_t bytes = atomic_load_explicit(&contact->bytes, memory_order_acquire);
        if (!bytes || bytes > sizeof contact->card || job->ranks[i].card_sent)
            continue;
        job->ranks[i].card_sent = true;
        pack_number(&list, job_world(job, i));
        pack_bytes(&list, contact->card, bytes);
        n++;
    }
    if (n) {
        pack_number(pack, n);
        pack_raw(pack, list.bytes, list.n);
    }
    pack_free(&list);
    return n > 0;
}

bool cards_hand_out(struct job *job, struct unpack *from)
{
    int n = unpack_int(from, 0, job->plan->world);
    for (int i = 0; i < n && !from->bad; i++) {
        size_t bytes;
        int world = unpack_int(from, 0, job->plan->world - 1);
        const char *card = unpack_bytes(from, &bytes);
        from->bad |= bytes > BOOT_CONTACT_BYTES;
        if (!from->bad && job->segment)
            boot_card_other(job->segment, world, card, bytes);
    }
    if (job->segment)
        boot_wake_all(job->segment);
    return !from->bad;
}

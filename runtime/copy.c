/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Loops over pieces.  The usual lengths are constants of the compiler's, each with its own loop;
 * other short lengths are copied as two overlapping halves of fixed size, which takes neither a
 * loop nor a call:
 *
 *     20 bytes    [................]
 *                     [................]
 *
 * Costs about a cycle per piece of up to 16 bytes, two of 32, four of 64 while both sides are in
 * the first cache.  There is one version for all processors: AVX-512 would gain a tenth where
 * pieces have 32 to 64 bytes and lie in the first cache, AVX2 nothing; longer ones are memcpy's,
 * which has such versions.
 */
#include "runtime/copy.h"

#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define INLINE static inline __attribute__((always_inline))

/* ---- one piece of any length ---- */

INLINE void copy_halves(char *to, const char *from, size_t length, size_t half)
{
    memcpy(to, from, half);
    memcpy(to + length - half, from + length - half, half);
}

INLINE void copy_piece(char *restrict to, const char *restrict from, size_t length)
{
    if (length > COPY_SHORT)
        memcpy(to, from, length);
    else if (length > 32)
        copy_halves(to, from, length, 32);
    else if (length > 16)
        copy_halves(to, from, length, 16);
    else if (length >= 8)
        copy_halves(to, from, length, 8);
    else if (length >= 4)
        copy_halves(to, from, length, 4);
    else if (length >= 2)
        copy_halves(to, from, length, 2);
    else
        *to = *from;
}

/* ---- pieces and rows of them ---- */

typedef uint64_t pair __attribute__((vector_size(16)));

INLINE uint64_t load_8(const char *from)
{
    uint64_t piece;
    memcpy(&piece, from, sizeof piece);
    return piece;
}

/* Pieces of 8 bytes that become a row are stored two at a time: the stores are what takes the
 * time.  Returns how many are done. */
INLINE size_t pairs_loop(char *to, const char *from, ptrdiff_t step, size_t count)
{
    size_t left = count;
    for (; left >= 4; left -= 4, to += 32, from += 4 * step) {
        pair low = { load_8(from), load_8(from + step) };
        pair high = { load_8(from + 2 * step), load_8(from + 3 * step) };
        memcpy(to, &low, sizeof low);
        memcpy(to + 16, &high, sizeof high);
    }
    return count - left;
}

/* Four at a time, addressed from one base: a pointer that moves on with every piece would allow
 * one piece per cycle at most. */
INLINE void fixed_loop(struct side to, struct side from, size_t length, size_t count)
{
    size_t paired =
        length == 8 && to.step == 8 ? pairs_loop(to.at, from.at, from.step, count) : 0;
    char *restrict t = to.at + (ptrdiff_t)paired * to.step;
    const char *restrict f = from.at + (ptrdiff_t)paired * from.step;
    count -= paired;
    for (; count >= 4; count -= 4, t += 4 * to.step, f += 4 * from.step) {
        memcpy(t, f, length);
        memcpy(t + to.step, f + from.step, length);
        memcpy(t + 2 * to.step, f + 2 * from.step, length);
        memcpy(t + 3 * to.step, f + 3 * from.step, length);
    }
    for (; count > 0; count--, t += to.step, f += from.step)
        memcpy(t, f, length);
}

INLINE void fixed_rows(struct side to, struct side from, size_t length, size_t count,
                       struct rows rows)
{
    for (; rows.count > 0; rows.count--) {
        fixed_loop(to, from, length, count);
        to.at += rows.to_step;
        from.at += rows.from_step;
    }
}

/* `length` is a constant; so is, in most uses, one of the steps. */
INLINE void fixed_copy(struct side to, struct side from, size_t length, size_t count,
                       struct rows rows)
{
    if (to.step == (ptrdiff_t)length)
        fixed_rows((struct side){ to.at, (ptrdiff_t)length }, from, length, count, rows);
    else if (from.step == (ptrdiff_t)length)
        fixed_rows(to, (struct side){ from.at, (ptrdiff_t)length }, length, count, rows);
    else
        fixed_rows(to, from, length, count, rows);
}

static void any_copy(struct side to, struct side from, size_t length, size_t count,
                     struct rows rows)
{
    for (; rows.count > 0; rows.count--) {
        char *t = to.at;
        const char *f = from.at;
        for (size_t i = 0; i < count; i++, t += to.step, f += from.step)
            copy_piece(t, f, length);
        to.at += rows.to_step;
        from.at += rows.from_step;
    }
}

/* ---- pieces that are far apart ---- */

enum { FAR_STEP = 1024, FAR_LENGTH = 16, FAR_LEAST = 1500, FAR_MOST = 1 << 16 };

/* Is every piece in another line, and are there more than the second cache holds of such
 * addresses, yet not so many that they come from memory? */
static bool is_far(struct side from, size_t length, size_t count)
{
    return count >= FAR_LEAST && count <= FAR_MOST && length <= FAR_LENGTH &&
           (from.step >= FAR_STEP || from.step <= -FAR_STEP);
}

static __attribute__((noinline)) void far_piece(char *to, const char *from, size_t length)
{
    copy_piece(to, from, length);
}

/* Loads that miss caches and page tables at once get in each other's way when a short loop starts
 * dozens of them.  A call per piece spaces them out; it takes 0.85 of the time. */
static void far_copy(struct side to, struct side from, size_t length, size_t count)
{
    for (; count > 0; count--, to.at += to.step, from.at += from.step)
        far_piece(to.at, from.at, length);
}

void copy_rows(struct side to, struct side from, size_t length, size_t count, struct rows rows)
{
    if (rows.count == 1 && is_far(from, length, count)) {
        far_copy(to, from, length, count);
        return;
    }
    switch (length) {
#define LENGTH(n)                                                                              \
    case n:                                                                                    \
        fixed_copy(to, from, n, count, rows);                                                  \
        break
        LENGTH(1);
        LENGTH(2);
        LENGTH(4);
        LENGTH(8);
        LENGTH(12);
        LENGTH(16);
        LENGTH(24);
        LENGTH(32);
        LENGTH(40);
        LENGTH(48);
        LENGTH(56);
        LENGTH(64);
#undef LENGTH
    default:
        any_copy(to, from, length, count, rows);
    }
}

/* ---- lists ---- */

INLINE void listed_copy(const struct spot *piece, size_t count, char *mem, char *flat,
                        size_t length, bool pack)
{
    for (size_t i = 0; i < count; i++, flat += length) {
        char *at = buffer_at(mem, piece[i].offset);
        copy_piece(pack ? flat : at, pack ? at : flat, length);
    }
}

INLINE void mixed_copy(const struct spot *piece, size_t count, char *mem, char *flat, bool pack)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = piece[i + 1].packed - piece[i].packed;
        char *at = buffer_at(mem, piece[i].offset);
        copy_piece(pack ? flat : at, pack ? at : flat, length);
        flat += length;
    }
}

INLINE void list_copy(const struct spot_list *list, const struct spot *piece, size_t count,
                      char *mem, char *flat, bool pack)
{
    switch (list->length) {
    case 0:
        mixed_copy(piece, count, mem, flat, pack);
        break;
    case 4:
        listed_copy(piece, count, mem, flat, 4, pack);
        break;
    case 8:
        listed_copy(piece, count, mem, flat, 8, pack);
        break;
    case 16:
        listed_copy(piece, count, mem, flat, 16, pack);
        break;
    case 24:
        listed_copy(piece, count, mem, flat, 24, pack);
        break;
    default:
        listed_copy(piece, count, mem, flat, list->length, pack);
    }
}

void copy_list(const struct spot_list *list, size_t first, size_t end, char *mem, char *flat,
               bool pack)
{
    if (pack)
        list_copy(list, list->at + first, end - first, mem, flat, true);
    else
        list_copy(list, list->at + first, end - first, mem, flat, false);
}

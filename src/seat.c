/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/seat.h"

#include "runtime/boot.h"
#include "runtime/hw.h"

struct seat seat_at(int node, const struct boot_place *place)
{
    return (struct seat){ node, place->package, place->numa, place->l3, place->core };
}

struct seat seat_here(void)
{
    struct seat seat = seat_at(boot.node, &boot_record(boot.local_rank)->place);
    if (seat.package >= 0 || seat.numa >= 0 || seat.l3 >= 0 || seat.core >= 0)
        return seat;
    struct hw_place place = hw_place();
    return (struct seat){ boot.node, (int16_t)place.package, (int16_t)place.numa,
                          (int16_t)place.l3, (int16_t)place.core };
}

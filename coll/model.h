/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Choosing by price (price.h), for ranks on several nodes.
 */
#ifndef XMPI_MODEL_H
#define XMPI_MODEL_H

#include "coll/choose.h"
#include "coll/price.h"

/* The cheapest algorithm that serves.  False: the model says nothing, because all ranks share a node,
 * where the rules were measured, or because ranks do not know the amount of data alike, or because
 * no algorithm has a price at this size. */
bool model_choose(const struct question *question, struct choice *choice);

/* The best an algorithm can do: its price, and the pieces and radix that it takes for that.  False:
 * it has no price, or cannot serve; both are as they were. */
bool model_price(const struct question *question, const struct algorithm *algorithm,
                 struct choice *how, struct price *price);

/* The price of performing it this way.  False likewise. */
bool model_price_of(const struct question *question, const struct choice *how,
                    struct price *price);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Choosing by price (price.h), for ranks on several nodes.
 */
#ifndef XMPI_MODEL_H
#define XMPI_MODEL_H

#include "coll/choose.h"
#include "coll/price.h"

/* The best an algorithm can do: its price, and the pieces and radix that it takes for that.  False:
 * it has no price, or cannot serve. */
bool model_price(const struct question *question, const struct algorithm *algorithm,
                 struct choice *how, struct price *price);

#endif

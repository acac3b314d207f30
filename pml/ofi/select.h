/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which provider and which interface: pure functions over what fi_getinfo lists.
 */
#ifndef XMPI_OFI_SELECT_H
#define XMPI_OFI_SELECT_H

#include "pml/ofi/fabric.h"

#include <stdbool.h>

enum { SELECT_TEXT = 64 };

struct wish {
    const char *provider; /* as fi_info names it, or without its layers; NULL: the best */
    const char *iface;    /* interface, domain or own address; NULL: the best */
    bool alone;           /* all processes are on this machine: loopback is good */
    bool exact;           /* the provider is named with all its layers */
};

/* It is for ranks of one node, who have something better, and is never taken. */
bool provider_is_local(const char *name);

/* Its packets go through the kernel's network, and not past it; over TCP. */
bool provider_is_of_kernel(const char *name);
bool provider_is_of_tcp(const char *name);

/* "127.0.0.1", "::1". */
bool address_is_loopback(const char *text);

/* How good a provider is: 0 is best; -1: only if it is asked for.  `version` is fi_version(). */
int provider_rank(const char *name, uint32_t version);

/* The best entry of the list; NULL: none fits the wish. */
const struct fi_info *info_select(const struct fi_info *list, const struct wish *wish,
                                  uint32_t version);

/* Why the entry is not `best`, which was selected from its list; a static text. */
const char *info_why_not(const struct fi_info *info, const struct fi_info *best,
                         const struct wish *wish, uint32_t version);

/* "10.0.0.1", "fe80::1", or "" where the address is no Internet address. */
const char *info_address(const struct fi_info *info, char text[SELECT_TEXT]);

#endif

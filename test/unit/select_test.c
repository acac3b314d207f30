/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Choosing a provider and an interface, from lists that are made up.
 */
#include "pml/ofi/select.h"

#include "test/unit/unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

enum { MOST = 12 };
static struct entry {
    struct fi_info info;
    struct fi_fabric_attr fabric;
    struct fi_domain_attr domain;
    struct sockaddr_in6 address;
} entries[MOST];
static int n;
static const uint32_t v17 = FI_VERSION(1, 17), v20 = FI_VERSION(1, 20);

static struct fi_info *add(const char *provider, const char *domain, const char *address)
{
    struct entry *e = &entries[n];
    *e = (struct entry){ .fabric.prov_name = (char *)provider, .domain.name = (char *)domain };
    e->info.fabric_attr = &e->fabric;
    e->info.domain_attr = &e->domain;
    if (address) {
        bool six = strchr(address, ':') != NULL;
        struct sockaddr_in *in = (struct sockaddr_in *)&e->address;
        e->info.addr_format = six ? FI_SOCKADDR_IN6 : FI_SOCKADDR_IN;
        e->info.src_addr = &e->address;
        e->address.sin6_family = six ? AF_INET6 : AF_INET;
        inet_pton(six ? AF_INET6 : AF_INET, address,
                  six ? (void *)&e->address.sin6_addr : (void *)&in->sin_addr);
    }
    if (n > 0)
        entries[n - 1].info.next = &e->info;
    n++;
    return &e->info;
}

static const struct fi_info *choose(const char *provider, const char *iface, bool alone,
                                    uint32_t version)
{
    struct wish wish = { .provider = provider, .iface = iface, .alone = alone };
    return info_select(&entries[0].info, &wish, version);
}

START_TEST(tcp_has_two_names)
{
    ck_assert_int_ge(provider_rank("net", v17), 0);
    ck_assert_int_lt(provider_rank("net", v17), provider_rank("tcp;ofi_rxm", v17));
    ck_assert_int_eq(provider_rank("tcp", v17), -1);
    ck_assert_int_eq(provider_rank("net", v20), -1);
    ck_assert_int_lt(provider_rank("tcp", v20), provider_rank("tcp;ofi_rxm", v20));
    ck_assert_int_lt(provider_rank("cxi", v20), provider_rank("tcp", v20));
    ck_assert_int_eq(provider_rank("shm", v20), -1);
    ck_assert_int_eq(provider_rank("sockets", v17), -1);
    ck_assert_int_eq(provider_rank("udp;ofi_rxd", v17), -1);
}
END_TEST

START_TEST(the_best_is_taken)
{
    add("udp;ofi_rxd", "eth0", "10.0.0.1");
    add("tcp;ofi_rxm", "eth0", "10.0.0.1");
    add("net", "eth0", "fe80::1");
    struct fi_info *loopback = add("net", "lo", "127.0.0.1");
    struct fi_info *six = add("net", "eth0", "fd00::1");
    struct fi_info *good = add("net", "eth0", "10.0.0.1");
    ck_assert_ptr_eq(choose(NULL, NULL, false, v17), good);
    ck_assert_ptr_eq(choose(NULL, NULL, true, v17), loopback);
    ck_assert_ptr_eq(choose(NULL, "fd00::1", false, v17), six);
    struct fi_info *verbs = add("verbs;ofi_rxm", "mlx5_0", NULL);
    ck_assert_ptr_eq(choose(NULL, NULL, false, v17), verbs);
    ck_assert_ptr_eq(choose(NULL, NULL, true, v17), verbs);
}
END_TEST

START_TEST(wishes_are_met_or_nothing_is)
{
    struct fi_info *sockets = add("sockets", "eth0", "10.0.0.1");
    struct fi_info *second = add("net", "eth1", "10.1.0.1");
    struct fi_info *first = add("net", "eth0", "10.0.0.1");
    ck_assert_ptr_eq(choose("sockets", NULL, false, v17), sockets);
    ck_assert_ptr_eq(choose(NULL, "eth1", false, v17), second);
    ck_assert_ptr_eq(choose(NULL, "10.0.0.1", false, v17), first);
    ck_assert_ptr_null(choose("cxi", NULL, false, v17));
    ck_assert_ptr_null(choose(NULL, "eth7", false, v17));
    ck_assert_ptr_null(choose("sockets", "eth1", false, v17));
}
END_TEST

START_TEST(a_provider_may_be_named_without_its_layers)
{
    uint32_t v18 = FI_VERSION(1, 18);
    struct fi_info *layered = add("tcp;ofi_rxm", "eth0", "10.0.0.1");
    add("net", "eth0", "10.0.0.1");
    ck_assert_ptr_eq(choose("tcp", NULL, false, v17), layered);
    ck_assert_ptr_eq(choose("tcp;ofi_rxm", NULL, false, v17), layered);
    ck_assert_ptr_null(choose("tc", NULL, false, v17));
    ck_assert_ptr_null(choose("tcp;ofi", NULL, false, v17));
    struct wish exact = { .provider = "tcp", .exact = true };
    ck_assert_ptr_null(info_select(&entries[0].info, &exact, v17));
    struct fi_info *plain = add("tcp", "eth0", "10.0.0.1");
    ck_assert_ptr_eq(choose("tcp", NULL, false, v18), plain);
    ck_assert_ptr_eq(choose("tcp;ofi_rxm", NULL, false, v18), layered);
}
END_TEST

START_TEST(only_what_nobody_should_use)
{
    add("shm", "shm", NULL);
    add("sockets", "eth0", "10.0.0.1");
    ck_assert_ptr_null(choose(NULL, NULL, false, v17));
    ck_assert_ptr_null(choose("shm", NULL, false, v17));
    ck_assert_ptr_nonnull(choose("sockets", NULL, false, v17));
}
END_TEST

START_TEST(it_says_why_not)
{
    struct fi_info *best = add("net", "eth0", "10.0.0.1");
    struct fi_info *six = add("net", "eth0", "fd00::1");
    struct fi_info *layered = add("tcp;ofi_rxm", "eth0", "10.0.0.1");
    struct fi_info *sockets = add("sockets", "eth0", "10.0.0.1");
    struct wish none = { .provider = NULL }, eth1 = { .iface = "eth1" },
                verbs = { .provider = "verbs" };
    ck_assert_ptr_nonnull(strstr(info_why_not(six, best, &none, v17), "address ranks lower"));
    ck_assert_ptr_nonnull(strstr(info_why_not(layered, best, &none, v17), "provider ranks"));
    ck_assert_ptr_nonnull(strstr(info_why_not(sockets, best, &none, v17), "who ask for it"));
    ck_assert_ptr_nonnull(strstr(info_why_not(six, best, &eth1, v17), "another interface"));
    ck_assert_ptr_nonnull(strstr(info_why_not(six, best, &verbs, v17), "another provider"));
}
END_TEST

START_TEST(addresses_as_text)
{
    char text[SELECT_TEXT];
    ck_assert_str_eq(info_address(add("net", "eth0", "10.0.0.1"), text), "10.0.0.1");
    ck_assert_str_eq(info_address(add("net", "eth0", "fd00::1"), text), "fd00::1");
    ck_assert_str_eq(info_address(add("cxi", "cxi0", NULL), text), "");
}
END_TEST

UNIT_MAIN("select", tcp_has_two_names, the_best_is_taken, wishes_are_met_or_nothing_is,
          a_provider_may_be_named_without_its_layers, only_what_nobody_should_use,
          it_says_why_not, addresses_as_text)

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The survey of networks: what fi_getinfo lists, once per provider and address, judged by the
 * same functions that choose when a job starts (nic.c, select.c) and with the same settings.  Those that
 * would be used are told first.
 */
#include "pml/survey.h"

#include "pml/ofi/nic.h"
#include "pml/ofi/select.h"

#include "mpi.h"
#include "runtime/param.h"

#include <stdio.h>
#include <string.h>

enum { PLACE_CHARS = 96 };

struct survey {
    const struct fi_info *list;
    const struct fi_info *chosen[NIC_MOST];
    int nchosen;
    struct wish wish;
    void (*tell)(void *to, const struct network *network);
    void *to;
};

static void place_of(const struct fi_info *info, char place[PLACE_CHARS])
{
    char address[SELECT_TEXT];
    info_address(info, address);
    snprintf(place, PLACE_CHARS, "%.30s%s%s", info->domain_attr->name, *address ? " " : "",
             address);
}

static bool infos_alike(const struct fi_info *a, const struct fi_info *b)
{
    char place[PLACE_CHARS], other[PLACE_CHARS];
    place_of(a, place);
    place_of(b, other);
    return strcmp(place, other) == 0 &&
           strcmp(a->fabric_attr->prov_name, b->fabric_attr->prov_name) == 0;
}

static bool is_chosen(const struct survey *s, const struct fi_info *info)
{
    for (int i = 0; i < s->nchosen; i++)
        if (infos_alike(s->chosen[i], info))
            return true;
    return false;
}

static const char *why_used(const struct survey *s)
{
    return param_string(OFI_NICS) ? "XMPI_OFI_NICS names it"
           : s->wish.iface && param_string(OFI_PROVIDER)
               ? "XMPI_OFI_PROVIDER and XMPI_OFI_IFACE "
                 "name it"
           : s->wish.iface              ? "XMPI_OFI_IFACE names it"
           : param_string(OFI_PROVIDER) ? "XMPI_OFI_PROVIDER names it; its best address"
                                        : "the best provider, and its best address";
}

static void survey_tell(const struct survey *s, const struct fi_info *info)
{
    char place[PLACE_CHARS];
    bool used = is_chosen(s, info);
    place_of(info, place);
    s->tell(s->to, &(struct network){
                       .provider = info->fabric_attr->prov_name,
                       .place = place,
                       .used = used,
                       .why = used ? why_used(s)
                                   : info_why_not(info, s->nchosen ? s->chosen[0] : NULL,
                                                  &s->wish, fabric.version()) });
}

static bool was_told(const struct survey *s, const struct fi_info *info)
{
    for (const struct fi_info *other = s->list; other != info; other = other->next)
        if (infos_alike(other, info))
            return true;
    return false;
}

int networks_survey(void (*tell)(void *to, const struct network *network), void *to)
{
    struct survey s = { .tell = tell,
                        .to = to,
                        .wish = { .provider = param_string(OFI_PROVIDER),
                                  .iface = param_string(OFI_IFACE) } };
    int error = fabric_load();
    struct fi_info *list = error ? NULL : nics_ask();
    if (!list)
        return MPI_ERR_OTHER;
    s.list = list;
    error = nics_choose(list, &s.wish, s.chosen, &s.nchosen);
    for (int i = 0; i < s.nchosen; i++)
        survey_tell(&s, s.chosen[i]);
    for (const struct fi_info *info = list; info; info = info->next)
        if (!was_told(&s, info) && !is_chosen(&s, info))
            survey_tell(&s, info);
    fabric.freeinfo(list);
    return error;
}

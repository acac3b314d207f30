/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Forced algorithms: collective=algorithm[:pieces=n][:radix=k][:throttle=m], separated by commas.  XMPI_COLL
 * is read when the first collective starts; what cannot be understood is an error of that call and
 * of every later one, never a silent default.  A communicator's own orders come before those.
 */
#include "coll/forced.h"

#include "coll/choose.h"
#include "coll/coll.h"
#include "coll/own.h"
#include "runtime/fail.h"
#include "runtime/param.h"
#include "mpi.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FORCED_PIECES = 4096, MOST_THROTTLE = 1 << 20 };

const struct algorithm *algorithm_find(enum collective what, bool inter, const char *name)
{
    for (const struct algorithm *a = algorithms; a->name; a++)
        if (a->what == what && a->inter == inter && strcmp(a->name, name) == 0)
            return a;
    return inter ? NULL : own_find(what, name);
}

bool list_has(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, n) == 0 && (at[n] == ',' || at[n] == '\0'))
            return true;
    }
    return false;
}

int collective_find(const char *name)
{
    for (int what = 0; what < COLL_KINDS; what++)
        if (strcmp(collective_name((enum collective)what), name) == 0)
            return what;
    return -1;
}

static void append(char why[FORCED_WHY], const char *name)
{
    size_t used = strlen(why);
    snprintf(why + used, FORCED_WHY - used, " %s", name);
}

void no_collective(const char *name, char why[FORCED_WHY])
{
    snprintf(why, FORCED_WHY, "there is no collective \"%s\"; there are:", name);
    for (int what = 0; what < COLL_KINDS; what++)
        append(why, collective_name((enum collective)what));
}

static void complain_algorithm(enum collective what, const char *name, char why[FORCED_WHY])
{
    snprintf(why, FORCED_WHY, "there is no algorithm \"%s\" for %s; there are:", name,
             collective_name(what));
    for (const struct algorithm *a = algorithms; a->name; a++)
        if (a->what == what && !a->inter)
            append(why, a->name);
    for (int i = 0; own_each(i); i++)
        if (own_each(i)->what == what)
            append(why, own_each(i)->name);
}

/* "pieces=4" */
static bool read_number(const char *text, const char *name, int least, int most, int *number)
{
    size_t length = strlen(name);
    char *end;
    if (strncmp(text, name, length) != 0 || !isdigit((unsigned char)text[length]))
        return false;
    long read = strtol(text + length, &end, 10);
    if (*end != '\0' || read < least || read > most)
        return false;
    *number = (int)read;
    return true;
}

/* pieces=n, radix=k or throttle=m after the name of an algorithm.  False: neither. */
static bool read_option(const char *text, struct forced *forced)
{
    return read_number(text, "pieces=", 1, MOST_FORCED_PIECES, &forced->pieces) ||
           read_number(text, "throttle=", 1, MOST_THROTTLE, &forced->throttle) ||
           (forced->algorithm->radix &&
            read_number(text, "radix=", 2, MOST_FORCED_RADIX, &forced->radix));
}

static void complain_option(const char *option, const struct algorithm *a, char why[FORCED_WHY])
{
    char radix[40] = "";
    if (a->radix)
        snprintf(radix, sizeof radix, ", nor radix=k with k from 2 to %d", MOST_FORCED_RADIX);
    snprintf(why, FORCED_WHY,
             "\"%s\" after %s is not pieces=n with n from 1 to %d%s, nor throttle=m with m "
             "from 1 to %d",
             option, a->name, MOST_FORCED_PIECES, radix, MOST_THROTTLE);
}

/* Is what this option sets set already? */
static bool is_twice(const char *option, unsigned *seen)
{
    static const char *const names[] = { "pieces=", "radix=", "throttle=" };
    bool twice = false;
    for (int i = 0; i < 3; i++)
        if (strncmp(option, names[i], strlen(names[i])) == 0) {
            twice = *seen >> i & 1;
            *seen |= 1u << i;
        }
    return twice;
}

void algorithm_read(enum collective what, char *text, struct forced *forced,
                    char why[FORCED_WHY])
{
    unsigned seen = 0;
    char *options = strchr(text, ':');
    if (options)
        *options++ = '\0';
    const char *complaint = own_complaint();
    const struct algorithm *a = *complaint ? NULL : algorithm_find(what, false, text);
    why[0] = '\0';
    *forced = (struct forced){ a, 1, a ? a->radix : 0, 0 };
    if (*complaint)
        snprintf(why, FORCED_WHY, "XMPI_PLAN: %s", complaint);
    else if (!a)
        complain_algorithm(what, text, why);
    for (char *option; !why[0] && (option = strsep(&options, ":"));)
        if (!read_option(option, forced))
            complain_option(option, a, why);
        else if (is_twice(option, &seen))
            snprintf(why, FORCED_WHY, "after %s %.*s is there twice", text,
                     (int)strcspn(option, "=") + 1, option);
}

/* One item, which is cut up. */
static void read_item(struct orders *orders, char *item, char why[FORCED_WHY])
{
    char *name = strchr(item, '=');
    if (!name) {
        snprintf(why, FORCED_WHY, "\"%s\" is not of the form collective=algorithm", item);
        return;
    }
    *name++ = '\0';
    int what = collective_find(item);
    if (what < 0)
        no_collective(item, why);
    else
        algorithm_read((enum collective)what, name, &orders->of[what], why);
}

static void orders_free(struct orders *orders)
{
    if (orders)
        free(orders->text);
    free(orders);
}

/* MPI_ERR_OTHER when the text cannot be understood; `who` is kept. */
static int orders_read(const char *text, const char *who, struct orders **orders)
{
    struct orders *made = calloc(1, sizeof(*made));
    char *copy = strdup(text), *rest = copy, why[FORCED_WHY] = "";
    if (made)
        *made = (struct orders){ .who = who, .text = strdup(text) };
    if (!made || !copy || !made->text) {
        orders_free(made);
        free(copy);
        return fail(MPI_ERR_NO_MEM, "no memory to read %s", who);
    }
    for (char *item; !why[0] && (item = strsep(&rest, ","));)
        if (*item)
            read_item(made, item, why);
    free(copy);
    if (why[0]) {
        orders_free(made);
        return fail(MPI_ERR_OTHER, "%s: %s", who, why);
    }
    *orders = made;
    return 0;
}

/* ---- of the process ---- */

static struct orders *process_orders; /* NULL: none, or not understood */
static bool is_read;
unsigned forced_epoch;
static char complaint[FORCED_WHY + 100]; /* what is wrong with XMPI_COLL; "" = nothing */

/* Without memory it is read again next time. */
int forced_read(const char *text)
{
    forced_epoch++;
    complaint[0] = '\0';
    orders_free(process_orders);
    process_orders = NULL;
    int error = text && *text ? orders_read(text, "XMPI_COLL", &process_orders) : 0;
    is_read = error != MPI_ERR_NO_MEM;
    if (error && is_read)
        snprintf(complaint, sizeof(complaint), "%s", fail_text());
    return error;
}

int forced_get(enum collective what, const struct orders **orders)
{
    if (!is_read && forced_read(param_string(COLL)) == MPI_ERR_NO_MEM)
        return MPI_ERR_NO_MEM;
    if (complaint[0] != '\0')
        return fail(MPI_ERR_OTHER, "%s", complaint);
    if (*own_complaint()) /* even if nobody names an algorithm of it: it was set to be used */
        return fail(MPI_ERR_OTHER, "XMPI_PLAN: %s", own_complaint());
    bool any = process_orders && process_orders->of[what].algorithm;
    *orders = any ? process_orders : NULL;
    return 0;
}

/* ---- of a team ---- */

int team_force(struct team *team, const char *text, const char *who)
{
    struct orders *made = NULL;
    int error = text && *text ? orders_read(text, who, &made) : 0;
    if (error)
        return error;
    orders_free(team->orders);
    team->orders = made;
    choose_forget(team);
    return 0;
}

int team_learn(const char *path)
{
    return own_load(path);
}

const char *team_forced(const struct team *team)
{
    return team->orders ? team->orders->text : "";
}

const char *pieces_objection(const struct algorithm *a)
{
    if (!algorithm_cuts(a))
        return "it cannot be cut in pieces";
    if (!is_amount_known(a->what) && param_number(SHORT_BLOCKS))
        return "with XMPI_SHORT_BLOCKS=1 two ends would cut a block differently";
    return NULL;
}

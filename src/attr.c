/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Attributes: what programs and libraries hang on communicators and datatypes, with the
 * functions that copy and delete it (MPI 5.0, 7.7).
 *
 * A key is a number for the user and a struct keyval inside.  The number holds a slot and how
 * often the slot was used before, so a dead key stays invalid.  A freed key lives on until the
 * last attribute under it is gone: a kept copy of its number still gets and deletes those, and
 * may be freed again, but sets no more.
 *
 *     key number = KEYVAL_FIRST + generation << SLOT_BITS + slot
 *
 * An object's attributes are one array in the order in which they were set.  Callbacks run
 * without the engine lock, and they or other threads may set and delete attributes of the same
 * object; so nothing is remembered across a callback but the key, which is held.  Copy and delete functions of value 0 and 1 are the standard's names for "do nothing"
 * and "copy the value", never addresses.
 */
#include "src/attr.h"

#include "runtime/fail.h"
#include "runtime/object.h"
#include "src/api/comm.h"
#include "src/comm.h"
#include "src/handle.h"
#include "src/outside.h"
#include "src/type.h"

#include <stdlib.h>
#include <string.h>

enum { KEYVAL_FIRST = 4096, SLOT_BITS = 16, SLOT_MASK = (1 << SLOT_BITS) - 1 };
enum { GENERATIONS = 1 << 14 };

struct keyval {
    int refs; /* the user's until it is freed, and one per attribute */
    bool freed;
    int number;
    enum attr_owner owner;
    void *copy, *delete; /* functions, or 0 and 1 */
    void *extra;
};

struct slot {
    struct keyval *keyval; /* NULL: free */
    int generation;
    int next_free;
};

static struct {
    struct slot *slots;
    int n, capacity, free; /* free: first free slot, -1: none */
} table = { .free = -1 };

struct attribute {
    struct keyval *keyval;
    void *value;
};

struct attributes {
    int n, capacity;
    struct attribute *list;
};

/* ---- keys ---- */

static int no_memory(void)
{
    return fail(MPI_ERR_NO_MEM, "no memory for an attribute");
}

static int slot_take(void)
{
    if (table.free >= 0) {
        int i = table.free;
        table.free = table.slots[i].next_free;
        return i;
    }
    if (table.n == table.capacity) {
        int capacity = table.capacity ? 2 * table.capacity : 16;
        struct slot *slots = capacity > SLOT_MASK + 1
                                 ? NULL
                                 : realloc(table.slots, (size_t)capacity * sizeof *slots);
        if (!slots)
            return -1;
        table.slots = slots;
        table.capacity = capacity;
    }
    table.slots[table.n] = (struct slot){ 0 };
    return table.n++;
}

static void slot_give(int i)
{
    struct slot *slot = &table.slots[i];
    slot->keyval = NULL;
    slot->generation = (slot->generation + 1) % GENERATIONS;
    slot->next_free = table.free;
    table.free = i;
}

static void keyval_drop(struct keyval *keyval)
{
    if (--keyval->refs > 0)
        return;
    slot_give((keyval->number - KEYVAL_FIRST) & SLOT_MASK);
    free(keyval);
}

static const char *owner_name(enum attr_owner owner)
{
    switch (owner) {
    case ATTR_COMM:
        return "communicators";
    case ATTR_TYPE:
        return "datatypes";
    case ATTR_WIN:
        return "windows";
    }
    return "";
}

static int keyval_create(enum attr_owner owner, void *copy, void *delete, void *extra,
                         int *number)
{
    struct keyval *keyval = malloc(sizeof *keyval);
    int i = keyval ? slot_take() : -1;
    if (i < 0) {
        free(keyval);
        return fail(MPI_ERR_NO_MEM, "no room for another keyval; %d are in use", table.n);
    }
    struct slot *slot = &table.slots[i];
    *number = KEYVAL_FIRST + (slot->generation << SLOT_BITS) + i;
    *keyval = (struct keyval){ .refs = 1,
                               .number = *number,
                               .owner = owner,
                               .copy = copy,
                               .delete = delete,
                               .extra = extra };
    slot->keyval = keyval;
    return MPI_SUCCESS;
}

/* The key behind a number, for this kind of object. */
static int keyval_find(int number, enum attr_owner owner, struct keyval **keyval)
{
    static const char *const arguments[] = {
        [ATTR_COMM] = "comm_keyval", [ATTR_TYPE] = "type_keyval", [ATTR_WIN] = "win_keyval"
    };
    const char *argument = arguments[owner];
    if (number == MPI_KEYVAL_INVALID)
        return fail(MPI_ERR_KEYVAL, "argument %s is MPI_KEYVAL_INVALID", argument);
    if (number > MPI_KEYVAL_INVALID && number < KEYVAL_FIRST)
        return fail(MPI_ERR_KEYVAL,
                    "argument %s is %d, a predefined keyval, which cannot be changed", argument,
                    number);
    int i = (number - KEYVAL_FIRST) & SLOT_MASK;
    struct keyval *found = number > 0 && i < table.n ? table.slots[i].keyval : NULL;
    if (!found || found->number != number)
        return fail(MPI_ERR_KEYVAL, "argument %s is %d, which does not exist, or was freed",
                    argument, number);
    if (found->owner != owner)
        return fail(MPI_ERR_KEYVAL, "argument %s is %d, which is for %s, not for %s", argument,
                    number, owner_name(found->owner), owner_name(owner));
    *keyval = found;
    return MPI_SUCCESS;
}

static int keyval_free(enum attr_owner owner, int *number)
{
    struct keyval *keyval;
    int rc = keyval_find(*number, owner, &keyval);
    if (rc)
        return rc;
    if (!keyval->freed) {
        keyval->freed = true;
        keyval_drop(keyval);
    }
    *number = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

/* ---- the user's functions ---- */

static int call_copy(const struct keyval *k, void *handle, void *value, void *copied, int *flag)
{
    switch (k->owner) {
    case ATTR_COMM:
        return ((MPI_Comm_copy_attr_function *)k->copy)(handle, k->number, k->extra, value,
                                                        copied, flag);
    case ATTR_TYPE:
        return ((MPI_Type_copy_attr_function *)k->copy)(handle, k->number, k->extra, value,
                                                        copied, flag);
    case ATTR_WIN:
        return ((MPI_Win_copy_attr_function *)k->copy)(handle, k->number, k->extra, value,
                                                       copied, flag);
    }
    return MPI_ERR_INTERN;
}

static int call_delete(const struct keyval *k, void *handle, void *value)
{
    switch (k->owner) {
    case ATTR_COMM:
        return ((MPI_Comm_delete_attr_function *)k->delete)(handle, k->number, value, k->extra);
    case ATTR_TYPE:
        return ((MPI_Type_delete_attr_function *)k->delete)(handle, k->number, value, k->extra);
    case ATTR_WIN:
        return ((MPI_Win_delete_attr_function *)k->delete)(handle, k->number, value, k->extra);
    }
    return MPI_ERR_INTERN;
}

/* The value for a new object; *flag 0: it gets none. */
static int value_copy(const struct keyval *k, void *handle, void *value, void **copied,
                      int *flag)
{
    *flag = 0;
    if (!k->copy)
        return MPI_SUCCESS;
    if (k->copy == (void *)MPI_COMM_DUP_FN) {
        *copied = value;
        *flag = 1;
        return MPI_SUCCESS;
    }
    struct outside outside = outside_begin();
    int rc = call_copy(k, handle, value, copied, flag);
    outside_end(&outside);
    return rc ? fail(rc, "the copy function of keyval %d returned %d", k->number, rc) : rc;
}

static int value_delete(const struct keyval *k, void *handle, void *value)
{
    if (!k->delete)
        return MPI_SUCCESS;
    struct outside outside = outside_begin();
    int rc = call_delete(k, handle, value);
    outside_end(&outside);
    return rc ? fail(rc, "the delete function of keyval %d returned %d", k->number, rc) : rc;
}

/* ---- the attributes of one object ---- */

static int attribute_find(const struct attributes *a, const struct keyval *keyval)
{
    for (int i = 0; a && i < a->n; i++)
        if (a->list[i].keyval == keyval)
            return i;
    return -1;
}

static void attribute_remove(struct attributes *a, int i)
{
    struct keyval *keyval = a->list[i].keyval;
    a->n--;
    memmove(&a->list[i], &a->list[i + 1], (size_t)(a->n - i) * sizeof a->list[0]);
    keyval_drop(keyval);
}

static int attribute_append(struct attributes **where, struct keyval *keyval, void *value)
{
    struct attributes *a = *where;
    if (!a && !(a = *where = calloc(1, sizeof *a)))
        return no_memory();
    if (a->n == a->capacity) {
        int capacity = a->capacity ? 2 * a->capacity : 4;
        struct attribute *list = realloc(a->list, (size_t)capacity * sizeof *list);
        if (!list)
            return no_memory();
        a->list = list;
        a->capacity = capacity;
    }
    keyval->refs++;
    a->list[a->n++] = (struct attribute){ keyval, value };
    return MPI_SUCCESS;
}

static void attributes_free(struct attributes **attributes)
{
    if (*attributes)
        free((*attributes)->list);
    free(*attributes);
    *attributes = NULL;
}

/* Call the delete function of one attribute, and take it off if that succeeds. */
static int attribute_delete(struct attributes *a, struct keyval *keyval, void *handle)
{
    int at = attribute_find(a, keyval);
    keyval->refs++; /* the function may free the key */
    int rc = value_delete(keyval, handle, a->list[at].value);
    at = rc ? -1 : attribute_find(a, keyval);
    if (at >= 0)
        attribute_remove(a, at);
    keyval_drop(keyval);
    return rc;
}

int attributes_delete(enum attr_owner owner, void *handle, struct attributes **attributes)
{
    (void)owner;
    struct attributes *a = *attributes;
    while (a && a->n > 0) {
        int rc = attribute_delete(a, a->list[a->n - 1].keyval, handle);
        if (rc)
            return rc;
    }
    attributes_free(attributes);
    return MPI_SUCCESS;
}

/* One attribute for a new object, if its copy function likes. */
static int attribute_copy(void *old_handle, const struct attribute *old, struct attributes **to)
{
    void *value = NULL;
    int flag;
    old->keyval->refs++;
    int rc = value_copy(old->keyval, old_handle, old->value, &value, &flag);
    if (!rc && flag)
        rc = attribute_append(to, old->keyval, value);
    keyval_drop(old->keyval);
    return rc;
}

int attributes_copy(enum attr_owner owner, void *old_handle, struct attributes *from,
                    struct attributes **to)
{
    *to = NULL;
    for (int i = 0; from && i < from->n; i++) {
        struct attribute old = from->list[i];
        int rc = attribute_copy(old_handle, &old, to);
        if (rc) {
            attributes_delete(owner, old_handle, to);
            return rc;
        }
    }
    return MPI_SUCCESS;
}

/* ---- set, get, delete, for any owner ---- */

static int attribute_set(struct attributes **where, struct keyval *keyval, void *handle,
                         void *value)
{
    if (keyval->freed)
        return fail(MPI_ERR_KEYVAL,
                    "keyval %d was freed; its attributes can only be read and "
                    "deleted",
                    keyval->number);
    if (attribute_find(*where, keyval) >= 0) {
        int rc = attribute_delete(*where, keyval, handle);
        if (rc)
            return rc;
    }
    return attribute_append(where, keyval, value);
}

static void attribute_get(const struct attributes *a, const struct keyval *keyval, void *value,
                          int *flag)
{
    int at = attribute_find(a, keyval);
    *flag = at >= 0;
    if (at >= 0)
        memcpy(value, &a->list[at].value, sizeof(void *));
}

static int attribute_take(struct attributes *a, struct keyval *keyval, void *handle)
{
    if (attribute_find(a, keyval) < 0)
        return fail(MPI_ERR_KEYVAL, "there is no attribute under keyval %d", keyval->number);
    return attribute_delete(a, keyval, handle);
}

/* ---- communicators ---- */

int xmpi_comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
                            MPI_Comm_delete_attr_function *comm_delete_attr_fn,
                            int_out_t *comm_keyval, void *extra_state)
{
    return keyval_create(ATTR_COMM, comm_copy_attr_fn, comm_delete_attr_fn, extra_state,
                         comm_keyval);
}

int xmpi_comm_free_keyval(int_out_t *comm_keyval)
{
    return keyval_free(ATTR_COMM, comm_keyval);
}

int xmpi_comm_set_attr(comm_t comm, int comm_keyval, void *attribute_val)
{
    struct keyval *keyval;
    int rc = keyval_find(comm_keyval, ATTR_COMM, &keyval);
    return rc ? rc : attribute_set(&comm->attributes, keyval, comm_handle(comm), attribute_val);
}

int xmpi_comm_get_attr(comm_t comm, int comm_keyval, pointer_out_t attribute_val, flag_t *flag)
{
    if (comm_keyval > MPI_KEYVAL_INVALID && comm_keyval < KEYVAL_FIRST) {
        void *value;
        int rc = attribute_predefined(comm_keyval, &value, flag);
        if (comm->session && comm_keyval != MPI_TAG_UB)
            *flag = 0; /* the world model alone has the others (MPI 5.0, 9.1.2) */
        if (!rc && *flag)
            memcpy(attribute_val, &value, sizeof value);
        return rc;
    }
    struct keyval *keyval;
    int rc = keyval_find(comm_keyval, ATTR_COMM, &keyval);
    if (!rc)
        attribute_get(comm->attributes, keyval, attribute_val, flag);
    return rc;
}

int xmpi_comm_delete_attr(comm_t comm, int comm_keyval)
{
    struct keyval *keyval;
    int rc = keyval_find(comm_keyval, ATTR_COMM, &keyval);
    return rc ? rc : attribute_take(comm->attributes, keyval, comm_handle(comm));
}

/* ---- datatypes ---- */

int xmpi_type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn,
                            MPI_Type_delete_attr_function *type_delete_attr_fn,
                            int_out_t *type_keyval, void *extra_state)
{
    return keyval_create(ATTR_TYPE, type_copy_attr_fn, type_delete_attr_fn, extra_state,
                         type_keyval);
}

int xmpi_type_free_keyval(int_out_t *type_keyval)
{
    return keyval_free(ATTR_TYPE, type_keyval);
}

int xmpi_type_set_attr(type_t datatype, int type_keyval, void *attribute_val)
{
    struct keyval *keyval;
    int rc = keyval_find(type_keyval, ATTR_TYPE, &keyval);
    return rc ? rc
              : attribute_set(&datatype->attributes, keyval, datatype->handle, attribute_val);
}

int xmpi_type_get_attr(type_t datatype, int type_keyval, pointer_out_t attribute_val,
                       flag_t *flag)
{
    struct keyval *keyval;
    int rc = keyval_find(type_keyval, ATTR_TYPE, &keyval);
    if (!rc)
        attribute_get(datatype->attributes, keyval, attribute_val, flag);
    return rc;
}

int xmpi_type_delete_attr(type_t datatype, int type_keyval)
{
    struct keyval *keyval;
    int rc = keyval_find(type_keyval, ATTR_TYPE, &keyval);
    return rc ? rc : attribute_take(datatype->attributes, keyval, datatype->handle);
}

/* ---- windows: keys only, until there are windows to hang them on ---- */

int xmpi_win_create_keyval(MPI_Win_copy_attr_function *win_copy_attr_fn,
                           MPI_Win_delete_attr_function *win_delete_attr_fn,
                           int_out_t *win_keyval, void *extra_state)
{
    return keyval_create(ATTR_WIN, win_copy_attr_fn, win_delete_attr_fn, extra_state,
                         win_keyval);
}

int xmpi_win_free_keyval(int_out_t *win_keyval)
{
    return keyval_free(ATTR_WIN, win_keyval);
}

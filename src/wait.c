/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Wait, Test and Request_get_status in their forms one, any, all and some (MPI 5.0, 3.7.3 to
 * 3.7.6).  All are the same three steps: look which requests are done, make progress or wait if
 * that is not enough, and end those that are:
 *
 *     one, any    end one request, return its error
 *     all, some   end several, their errors go to the statuses and MPI_ERR_IN_STATUS is returned
 *
 * Null and inactive requests are over, with an empty status.  We wait for all requests whatever
 * failed among them, so MPI_ERR_PENDING never occurs.
 */
#include "src/request.h"

#include "runtime/fail.h"
#include "runtime/polling.h"
#include "runtime/progress.h"
#include "runtime/record.h"
#include "src/api/p2p.h"
#include "src/status.h"

#include <stdio.h>

/* ---- looking ---- */

struct set {
    int n;
    MPI_Request *handles;
    bool keep; /* MPI_Request_get_status_*: the requests stay as they are */
};

struct seen {
    int live, done; /* requests with something to wait for; those of them that are complete */
    int first;      /* index of the first complete one */
};

/* From i on. */
static int set_check_from(const struct set *set, int i)
{
    if (set->n > 0 && !set->handles)
        return fail(MPI_ERR_ARG, "argument array_of_requests is NULL, but count is %d", set->n);
    for (; i < set->n; i++) {
        struct request *request;
        int rc = request_of(set->handles[i], i, &request);
        if (rc)
            return rc;
    }
    return MPI_SUCCESS;
}

static int set_check(const struct set *set)
{
    return set_check_from(set, 0);
}

/* The handles have been checked. */
static struct request *set_request(const struct set *set, int i)
{
    MPI_Request handle = set->handles[i];
    return handle == MPI_REQUEST_NULL ? NULL : (struct request *)handle;
}

/* It was a request when all were checked: the same one stands further ahead, and has ended there. */
static bool set_is_twice(const struct set *set, int i)
{
    MPI_Request handle = set->handles[i];
    return handle != MPI_REQUEST_NULL && !object_is(handle, OBJECT_REQUEST);
}

static int fail_twice(int i)
{
    return fail(
        MPI_ERR_REQUEST,
        "array_of_requests[%d] is a request that stands in the array before; each may be "
        "there once",
        i);
}

static struct seen set_look(const struct set *set)
{
    struct seen seen = { 0, 0, MPI_UNDEFINED };
    for (int i = 0; i < set->n; i++) {
        const struct request *request = set_request(set, i);
        if (!request_is_live(request))
            continue;
        seen.live++;
        if (request->done && seen.done++ == 0)
            seen.first = i;
    }
    return seen;
}

/* For the flight recorder: what is not done yet; all of it has to be, */
static void set_tell_all(const void *what, struct record_wait *wait)
{
    const struct set *set = what;
    for (int i = 0; i < set->n; i++) {
        const struct request *request = set_request(set, i);
        if (request_is_live(request) && !request->done)
            request_tell(request, wait);
    }
}

/* or any. */
static void set_tell_any(const void *what, struct record_wait *wait)
{
    wait->any = 1;
    set_tell_all(what, wait);
}

/* The same question as before, as far as that is cheap to tell. */
static uintptr_t set_key(const struct set *set, bool all)
{
    uintptr_t first = (uintptr_t)set->handles[0], last = (uintptr_t)set->handles[set->n - 1];
    return first ^ last << 1 ^ (uintptr_t)set->handles << 2 ^ (uintptr_t)set->n << 1 ^
           (all ? 1 : 2);
}

/* One round of progress if nothing (or, with `all`, not everything) is done yet. */
static struct seen set_test(const struct set *set, bool all)
{
    struct seen seen = set_look(set);
    if (seen.done < (all ? seen.live : 1)) {
        progress();
        seen = set_look(set);
        if (seen.live > 0 && seen.done < (all ? seen.live : 1))
            polling_missed(all ? set_tell_all : set_tell_any, set, set_key(set, all));
    }
    return seen;
}

/* Until something is done, if there is anything to wait for. */
static struct seen set_wait(const struct set *set)
{
    struct seen seen = set_look(set);
    if (seen.done > 0 || seen.live == 0)
        return seen;
    struct wait wait = WAIT_FOR(set_tell_any, set);
    do {
        wait_poll(&wait);
        seen = set_look(set);
    } while (seen.done == 0);
    wait_end(&wait);
    return seen;
}

/* ---- ending ---- */

static int set_end(const struct set *set, int i, struct result *result)
{
    struct request *request = set_request(set, i);
    if (set->keep)
        return request_report(request, result);
    return request_finish(request, &set->handles[i], result);
}

/* The ending of `any`: nothing live gives MPI_UNDEFINED and an empty status. */
static int set_end_one(const struct set *set, const struct seen *seen, int *index,
                       MPI_Status *status)
{
    *index = seen->first;
    if (seen->done == 0) {
        status_write_empty(status);
        return MPI_SUCCESS;
    }
    struct result result;
    int rc = set_end(set, seen->first, &result);
    status_write(status, &result);
    return rc;
}

/* Several endings: their statuses in order of completion, and what is said of those that failed. */
struct endings {
    MPI_Status *statuses; /* MPI_STATUSES_IGNORE */
    int n;
    bool failed;
};

/* A status has room for a class, so all that is said of failures, of as many as it holds, is the text of the call. */
static void endings_fail(struct endings *endings, int i, int rc)
{
    char said[FAIL_CHARS], before[FAIL_CHARS] = "";
    snprintf(said, sizeof said, "%s", fail_text());
    if (endings->failed && fail_recall(endings))
        snprintf(before, sizeof before, "%s; ", fail_text());
    fail(rc, "%sarray_of_requests[%d]: %s", before, i, said);
    fail_keep(endings, rc); /* what ends behind it may say something, too */
    for (int k = 0; !endings->failed && endings->statuses && k < endings->n; k++)
        endings->statuses[k].MPI_ERROR = MPI_SUCCESS;
    endings->failed = true;
}

/* MPI_ERROR is written only when there is an error among them. */
static void endings_add(struct endings *endings, const struct set *set, int i, bool live)
{
    MPI_Status *status = endings->statuses ? &endings->statuses[endings->n] : MPI_STATUS_IGNORE;
    int rc = MPI_SUCCESS;
    if (live) {
        struct result result;
        rc = set_end(set, i, &result);
        status_write(status, &result);
    } else {
        status_write_empty(status);
    }
    if (rc)
        endings_fail(endings, i, rc);
    if (status && endings->failed)
        status->MPI_ERROR = rc;
    endings->n++;
}

static int endings_result(const struct endings *endings)
{
    if (!endings->failed)
        return MPI_SUCCESS;
    fail_recall(endings);
    return MPI_ERR_IN_STATUS;
}

static __attribute__((noinline)) void set_await_one(const struct set *set,
                                                    struct request *request)
{
    request_spin(request);
    progress_until_in(request_engine(request), &request->done, set_tell_all, set);
}

/* Wait for this one and all behind it. */
static void set_await(const struct set *set, int i)
{
    for (; i < set->n; i++) {
        struct request *request = set_is_twice(set, i) ? NULL : set_request(set, i);
        if (request && !request->done)
            set_await_one(set, request);
    }
}

/* What there is to say of one that is complete. */
static inline void tell_ended(const struct request *request, MPI_Status *status)
{
    if (request_is_live(request))
        status_write(status, &request->result);
    else
        status_write_empty(status);
}

/* End those that are over and well, from i on.  Returns the first that is not, is none, or n. */
static int set_end_well(const struct set *set, int i, MPI_Status *statuses)
{
    int n = set->n;
    MPI_Request *handles = set->handles;
    for (; i < n; i++) {
        struct request *request = (struct request *)handles[i];
        if (!object_is(request, OBJECT_REQUEST) || !request_is_well(request))
            break;
        if (statuses)
            tell_ended(request, &statuses[i]);
        request_end(request, &handles[i]);
    }
    return i;
}

/* The ending of `all` from i on.  One after the other is waited for while all are well; and all are, as
 * soon as one is not: what is said of failures is said when nothing else goes on. */
static int set_end_all(const struct set *set, int i, MPI_Status *statuses)
{
    struct endings endings = { statuses, 0, false };
    bool simply = !set->keep, awaited = false;
    for (;;) {
        if (simply && !endings.failed)
            i = set_end_well(set, i, statuses);
        endings.n = i;
        if (i >= set->n)
            return endings_result(&endings);
        if (set_is_twice(set, i))
            return fail_twice(i);
        struct request *request = set_request(set, i);
        if (awaited) {
            endings_add(&endings, set, i, request_is_live(request));
            i++;
        } else if (simply && request && !request->done) {
            set_await_one(set, request);
        } else {
            set_await(set, i);
            awaited = true;
        }
    }
}

/* The ending of `some`. */
static int set_end_some(const struct set *set, const struct seen *seen, int *outcount,
                        int indices[], MPI_Status *statuses)
{
    *outcount = seen->live > 0 ? 0 : MPI_UNDEFINED;
    if (seen->done == 0)
        return MPI_SUCCESS;
    struct endings endings = { statuses, 0, false };
    for (int i = 0; i < set->n; i++) {
        if (set_is_twice(set, i))
            return fail_twice(i);
        const struct request *request = set_request(set, i);
        if (!request_is_live(request) || !request->done)
            continue;
        indices[endings.n] = i;
        endings_add(&endings, set, i, true);
    }
    *outcount = endings.n;
    return endings_result(&endings);
}

/* ---- one ---- */

/* One that is complete, and not inactive. */
static int end_one(struct request *request, MPI_Request *handle, MPI_Status *status)
{
    if (request_is_well(request)) {
        status_write(status, &request->result);
        request_end(request, handle);
        return MPI_SUCCESS;
    }
    struct result result;
    int rc = request_finish(request, handle, &result);
    status_write(status, &result);
    return rc;
}

int xmpi_wait(request_t *request, status_t status)
{
    struct request *awaited;
    int rc = request_of(*request, -1, &awaited);
    if (rc)
        return rc;
    if (!request_is_live(awaited)) {
        status_write_empty(status);
        return MPI_SUCCESS;
    }
    request_await(awaited);
    return end_one(awaited, request, status);
}

/* Apart, and the last thing that a test does: one that finds something pays nothing for it. */
__attribute__((noinline)) int request_missed(const struct request *request)
{
    polling_missed(request_tell, request, (uintptr_t)request);
    return MPI_SUCCESS;
}

static int test_one(MPI_Request *handle, bool keep, int *flag, MPI_Status *status)
{
    struct request *tested;
    int rc = request_of(*handle, -1, &tested);
    if (rc)
        return rc;
    *flag = 1;
    if (!request_is_live(tested)) {
        status_write_empty(status);
        return MPI_SUCCESS;
    }
    if (!tested->done)
        progress();
    *flag = tested->done;
    if (!*flag)
        return request_missed(tested);
    if (!keep)
        return end_one(tested, handle, status);
    struct result result;
    rc = request_report(tested, &result);
    status_write(status, &result);
    return rc;
}

int xmpi_test(request_t *request, flag_t *flag, status_t status)
{
    return test_one(request, false, flag, status);
}

int xmpi_request_get_status(MPI_Request request, flag_t *flag, status_t status)
{
    return test_one(&request, true, flag, status);
}

/* ---- any ---- */

int xmpi_waitany(n_t count, MPI_Request array_of_requests[], int_out_t *indx, status_t status)
{
    struct set set = { count, array_of_requests, false };
    int rc = set_check(&set);
    if (rc)
        return rc;
    struct seen seen = set_wait(&set);
    return set_end_one(&set, &seen, indx, status);
}

static int set_test_any(const struct set *set, int *index, int *flag, MPI_Status *status)
{
    int rc = set_check(set);
    if (rc)
        return rc;
    struct seen seen = set_test(set, false);
    *flag = seen.done > 0 || seen.live == 0;
    *index = MPI_UNDEFINED;
    return *flag ? set_end_one(set, &seen, index, status) : MPI_SUCCESS;
}

int xmpi_testany(n_t count, MPI_Request array_of_requests[], int_out_t *indx, flag_t *flag,
                 status_t status)
{
    struct set set = { count, array_of_requests, false };
    return set_test_any(&set, indx, flag, status);
}

int xmpi_request_get_status_any(n_t count, const MPI_Request array_of_requests[],
                                int_out_t *indx, flag_t *flag, status_t status)
{
    struct set set = { count, (MPI_Request *)array_of_requests, true };
    return set_test_any(&set, indx, flag, status);
}

/* ---- all ---- */

int xmpi_waitall(n_t count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses)
{
    struct set set = { count, array_of_requests, false };
    int i = array_of_requests ? set_end_well(&set, 0, array_of_statuses) : 0;
    int rc = set_check_from(&set, i);
    return rc ? rc : set_end_all(&set, i, array_of_statuses);
}

static int set_test_all(const struct set *set, int *flag, MPI_Status *statuses)
{
    int rc = set_check(set);
    if (rc)
        return rc;
    struct seen seen = set_test(set, true);
    *flag = seen.done == seen.live;
    return *flag ? set_end_all(set, 0, statuses) : MPI_SUCCESS;
}

int xmpi_testall(n_t count, MPI_Request array_of_requests[], flag_t *flag,
                 MPI_Status *array_of_statuses)
{
    struct set set = { count, array_of_requests, false };
    return set_test_all(&set, flag, array_of_statuses);
}

int xmpi_request_get_status_all(n_t count, const MPI_Request array_of_requests[], flag_t *flag,
                                MPI_Status *array_of_statuses)
{
    struct set set = { count, (MPI_Request *)array_of_requests, true };
    return set_test_all(&set, flag, array_of_statuses);
}

/* ---- some ---- */

int xmpi_waitsome(n_t incount, MPI_Request array_of_requests[], int_out_t *outcount,
                  int array_of_indices[], MPI_Status *array_of_statuses)
{
    struct set set = { incount, array_of_requests, false };
    int rc = set_check(&set);
    if (!rc)
        rc = fail_null_array("array_of_indices", incount, array_of_indices);
    if (rc)
        return rc;
    struct seen seen = set_wait(&set);
    return set_end_some(&set, &seen, outcount, array_of_indices, array_of_statuses);
}

static int set_test_some(const struct set *set, int *outcount, int indices[],
                         MPI_Status *statuses)
{
    int rc = set_check(set);
    if (!rc)
        rc = fail_null_array("array_of_indices", set->n, indices);
    if (rc)
        return rc;
    struct seen seen = set_test(set, false);
    return set_end_some(set, &seen, outcount, indices, statuses);
}

int xmpi_testsome(n_t incount, MPI_Request array_of_requests[], int_out_t *outcount,
                  int array_of_indices[], MPI_Status *array_of_statuses)
{
    struct set set = { incount, array_of_requests, false };
    return set_test_some(&set, outcount, array_of_indices, array_of_statuses);
}

int xmpi_request_get_status_some(n_t incount, const MPI_Request array_of_requests[],
                                 int_out_t *outcount, int array_of_indices[],
                                 MPI_Status *array_of_statuses)
{
    struct set set = { incount, (MPI_Request *)array_of_requests, true };
    return set_test_some(&set, outcount, array_of_indices, array_of_statuses);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocking collectives that have come so often that their arguments, as they are given, say all there is to know: one
 * that differs in a single argument is another one, by whatever name it is called, and a mistake is still an error.
 * So are ranks in different collectives, what was forced upon a communicator in between is obeyed, and what is known
 * of a communicator is not of the next one, though that may lie where the first one did.
 */
#include "check.h"
#include "kinds.h"

/* ---- one argument differs ---- */

static void change(struct call from, struct call to)
{
    keep(from);
    once(to);
    once(from);
    keep(to);
    once(from);
    once(to);
}

static void test_arguments(void)
{
    for (enum kind kind = BCAST; kind < KINDS; kind++) {
        struct call one = call_of(kind), other = one;
        other.count = 3;
        change(one, other);
        other.count = 1;
        change(one, other);
        other = one;
        other.type = MPI_FLOAT;
        change(one, other);
        other.type = MPI_DOUBLE;
        change(one, other);
        other = one;
        other.op = MPI_MAX;
        if (is_reduction(kind))
            change(one, other);
        other = one;
        other.root = size - 1;
        if (is_rooted(kind))
            change(one, other);
        other = one;
        other.in_place = true;
        change(one, other);
        if (is_rooted(kind))
            one.root = other.root = size / 2;
        change(one, other);
    }
}

/* Roots that are far from each other, one after the other. */
static void test_roots(void)
{
    for (enum kind kind = BCAST; kind < KINDS; kind++)
        for (int n = 0; n < 3 * size && is_rooted(kind); n++) {
            struct call c = call_of(kind);
            c.root = n % size;
            n < size ? keep(c) : once(c);
        }
}

/* The same arguments of another kind.  A barrier has no data: what it gets none of are those of the one before. */
static void test_kinds(void)
{
    for (enum kind a = BARRIER; a < KINDS; a++)
        for (enum kind b = BARRIER; b < KINDS; b++)
            change(call_of(a), call_of(b));
}

/* The same kind by other names. */
static void test_names(void)
{
    for (enum kind kind = BARRIER; kind < KINDS; kind++)
        for (int n = 0; n < 24; n++) {
            struct call c = call_of(kind);
            c.count = 2 + n / 8 % 2;
            once_by(c, n < 16 ? n % WAYS : n / 2 % WAYS);
        }
}

/* What counts on the root only may be anything elsewhere. */
static void test_ignored(void)
{
    static const enum kind kinds[] = { GATHER, SCATTER, REDUCE };
    for (int n = 0; n < 3 * 2 * KEPT; n++) {
        struct call c = call_of(kinds[n / (2 * KEPT)]);
        calls++;
        struct given g = fill(&c), odd = g;
        int far = c.kind == SCATTER ? 0 : 1;
        if (far == 0)
            odd.out = NULL;
        else
            odd.in = NULL;
        odd.counts[far] = -1 - n;
        odd.types[far] = MPI_DATATYPE_NULL;
        CHECK_OK(perform(c.kind, PLAIN, rank > 0 && n % KEPT > 2 ? &odd : &g));
        check(&c, &g);
    }
}

/* ---- mistakes, after many calls without ---- */

static bool sends(enum kind kind)
{
    return kind != BARRIER && kind != BCAST && (kind != SCATTER || rank == 0);
}

static bool receives(enum kind kind)
{
    return kind == EXSCAN
               ? rank > 0
               : kind != BARRIER && ((kind != GATHER && kind != REDUCE) || rank == 0);
}

/* Each rank makes the mistake where it is one; then nobody waits for it. */
static void mistake(enum kind kind, const struct given *bad, int class, bool counts_here)
{
    for (enum way way = PLAIN; way < WAYS && counts_here; way++)
        check_class(__FILE__, __LINE__, "a collective", perform(kind, way, bad), class);
    once(call_of(kind));
}

static void mistakes_of_side(enum kind kind, int side, bool counts_here)
{
    struct call c = call_of(kind);
    struct given good = fill(&c), bad = good;
    bad.counts[side] = -1;
    mistake(kind, &bad, MPI_ERR_COUNT, counts_here);
    bad = good;
    bad.types[side] = MPI_DATATYPE_NULL;
    mistake(kind, &bad, MPI_ERR_TYPE, counts_here);
}

static void mistakes(enum kind kind)
{
    struct call c = call_of(kind);
    struct given good = fill(&c), bad = good;
    bool is_single = kind == BCAST || is_reduction(kind);
    mistakes_of_side(kind, 0, sends(kind) || kind == BCAST);
    if (!is_single)
        mistakes_of_side(kind, 1, receives(kind));
    bad.out = NULL;
    mistake(kind, &bad, MPI_ERR_BUFFER, sends(kind));
    bad.out = good.in;
    mistake(kind, &bad, MPI_ERR_BUFFER, rank == 0 && sends(kind) && kind != EXSCAN);
    bad = good;
    bad.in = NULL;
    mistake(kind, &bad, MPI_ERR_BUFFER, receives(kind));
    bad = good;
    bad.op = MPI_OP_NULL;
    if (is_reduction(kind))
        mistake(kind, &bad, MPI_ERR_OP, true);
    bad.op = MPI_BAND;
    bad.types[0] = MPI_DOUBLE;
    if (is_reduction(kind))
        mistake(kind, &bad, MPI_ERR_OP, true);
    static const int away[] = { 8, -8, 64, 1 << 20, -(1 << 20), -1 };
    for (int i = 0; i < 6 && is_rooted(kind); i++) {
        bad = good;
        bad.root = away[i];
        mistake(kind, &bad, MPI_ERR_ROOT, away[i] < 0 || away[i] >= size);
    }
}

/* The root's other side alone, which all the others do not know of. */
static void mistakes_of_root(void)
{
    struct call gather = call_of(GATHER), scatter = call_of(SCATTER);
    struct given g = fill(&gather);
    g.counts[1] = 1;
    mistake(GATHER, &g, MPI_ERR_TRUNCATE, rank == 0);
    g = fill(&scatter);
    g.counts[0] = 3;
    mistake(SCATTER, &g, MPI_ERR_TRUNCATE, rank == 0);
}

static void test_mistakes(void)
{
    for (enum kind kind = BCAST; kind < KINDS; kind++) {
        keep(call_of(kind));
        mistakes(kind);
    }
    for (enum kind kind = BARRIER; kind < KINDS; kind++) {
        struct call c = call_of(kind);
        keep(c);
        struct given bad = fill(&c);
        bad.comm = MPI_COMM_NULL;
        mistake(kind, &bad, MPI_ERR_COMM, true);
    }
    keep(call_of(GATHER));
    keep(call_of(SCATTER));
    mistakes_of_root();
}

/* ---- communicators that come and go, at the same address, with ranks the other way round or fewer ---- */

static MPI_Comm new_comm(MPI_Comm from, int n)
{
    MPI_Comm made;
    int me = world_rank();
    MPI_Comm_split(from, n % 3 == 2 ? me % 2 : 0, n % 2 ? -me : me, &made);
    return made;
}

static void test_comms(MPI_Comm all)
{
    for (int n = 0; n < 12; n++) {
        MPI_Comm mine = new_comm(all, n), gone = mine;
        use(mine);
        for (enum kind kind = BARRIER; kind < KINDS; kind++)
            keep(call_of(kind));
        MPI_Comm other = new_comm(all, n + 1);
        for (int i = 0; i < 2 * KINDS; i++) {
            use(i % 2 ? mine : other);
            once(call_of((enum kind)(i / 2)));
        }
        use(mine);
        keep(call_of(ALLREDUCE));
        MPI_Comm_free(&other);
        MPI_Comm_free(&mine);
        for (enum kind kind = BARRIER; kind < KINDS; kind++) {
            struct call c = call_of(kind);
            struct given bad = fill(&c);
            bad.comm = gone;
            CHECK_ERROR(perform(kind, PLAIN, &bad), MPI_ERR_COMM);
        }
    }
    use(all);
}

/* ---- what is forced upon a communicator ---- */

static void force(const char *orders)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "xmpi_coll", orders);
    CHECK_OK(MPI_Comm_set_info(comm, info));
    MPI_Info_free(&info);
}

/* The name of the algorithm that performed the last one of them; a library without such a variable has none. */
static void plan_of(const char *variable, char text[64])
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_T_enum words;
    int index, count, state, value, length = 64, class, bind;
    text[0] = '\0';
    if (MPI_T_pvar_get_index(variable, MPI_T_PVAR_CLASS_STATE, &index) != MPI_SUCCESS)
        return;
    MPI_T_pvar_get_info(index, NULL, NULL, NULL, &class, NULL, &words, NULL, NULL, &bind, NULL,
                        NULL, NULL);
    MPI_T_pvar_session_create(&session);
    CHECK(MPI_T_pvar_handle_alloc(session, index, &comm, &handle, &count) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_read(session, handle, &state) == MPI_SUCCESS);
    CHECK(MPI_T_enum_get_item(words, state, &value, text, &length) == MPI_SUCCESS);
    MPI_T_pvar_handle_free(session, &handle);
    MPI_T_pvar_session_free(&session);
}

static void obeys(enum kind kind, const char *variable, const char *name, const char *orders)
{
    char usual[64], forced[64], text[64];
    keep(call_of(kind));
    plan_of(variable, usual);
    for (int i = 0; i < 3; i++) {
        force(orders);
        once(call_of(kind));
        plan_of(variable, forced);
        CHECK(!usual[0] || strcmp(forced, name) == 0);
        keep(call_of(kind));
        force("");
        once(call_of(kind));
        plan_of(variable, text);
        CHECK(strcmp(text, usual) == 0);
        keep(call_of(kind));
    }
}

static void test_orders(void)
{
    int provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    obeys(ALLREDUCE, "xmpi_plan_allreduce", "ring", "allreduce=ring");
    obeys(BCAST, "xmpi_plan_bcast", "chain", "bcast=chain");
    MPI_T_finalize();
}

/* ---- ranks in different collectives, all of which are known ---- */

static int handled; /* errors that the communicator's handler was given */

static void handle(MPI_Comm *where, int *code, ...)
{
    (void)where;
    handled += *code != MPI_SUCCESS;
}

/* An error comes from the call, or from the next one where that needed nobody. */
static void differ(enum kind first, enum kind others, MPI_Errhandler handler)
{
    MPI_Comm mine;
    int rc, again = MPI_SUCCESS;
    MPI_Comm_dup(MPI_COMM_WORLD, &mine);
    MPI_Comm_set_errhandler(mine, handler);
    use(mine);
    keep(call_of(first));
    keep(call_of(others));
    keep(call_of(ALLREDUCE));
    keep(call_of(first));
    keep(call_of(others));
    CHECK_OK(MPI_Barrier(
        MPI_COMM_WORLD)); /* of another host: the error may come before the last message */
    struct call c = call_of(rank == 0 ? first : others), next = call_of(ALLREDUCE);
    handled = 0;
    struct given g = fill(&c);
    rc = perform(c.kind, PLAIN, &g);
    g = fill(&next);
    again = perform(ALLREDUCE, PLAIN, &g);
    CHECK(again != MPI_SUCCESS);
    CHECK(handler == MPI_ERRORS_RETURN || handled == 1 + (rc != MPI_SUCCESS));
    MPI_Comm_free(&mine);
}

static void test_different(void)
{
    MPI_Errhandler mine;
    MPI_Comm_create_errhandler(handle, &mine);
    for (int n = 0; n < 2; n++) {
        MPI_Errhandler handler = n ? mine : MPI_ERRORS_RETURN;
        differ(BCAST, ALLREDUCE, handler);
        differ(ALLREDUCE, BCAST, handler);
        differ(BARRIER, ALLTOALL, handler);
        differ(REDUCE, GATHER, handler);
    }
    MPI_Errhandler_free(&mine);
}

int main(int argc, char **argv)
{
    MPI_Comm dup;
    MPI_Init(&argc, &argv);
    errors_return();
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    use(dup);
    test_arguments();
    test_roots();
    test_kinds();
    test_names();
    test_ignored();
    test_mistakes();
    test_comms(dup);
    test_orders();
    if (world_size() > 1)
        test_different();
    MPI_Comm_free(&dup);
    return check_done();
}

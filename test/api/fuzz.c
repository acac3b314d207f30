/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bit patterns that are no handles, in every handle of every function, and NULL for every pointer:
 * an error that names the function, never a crash, never an end that does not come.  The calls
 * are generated (fuzz.py).  The patterns: 0, small numbers, -1, addresses of this program, handles
 * of every other kind, freed handles of every kind, addresses inside and behind live objects,
 * and random bits.
 */
#include <mpi.h>
#include <mpix.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_JUNK = 400, RANDOM_JUNK = 120, PATIENCE = 5 };

struct junk_case {
    const char *function, *argument, *kind;
    int (*call)(void *junk);
};

struct null_case {
    const char *function, *argument;
    int must; /* be an error */
    int (*call)(void);
};

/* Right values for the other arguments; set anew before each call. */
static char memory[4096], text[8192];
static int ints[16], zeros[16], distribs[4];
static MPI_Count counts[16];
static MPI_Aint aints[16];
static MPI_Offset offsets[4];
static MPI_Status statuses[4];
static MPI_Request requests[4], good_part;
static MPI_Datatype types[4], strided;
static MPI_Comm comms[4], grid, graph, dist;

static void set_right(void)
{
    for (int i = 0; i < 16; i++) {
        ints[i] = 1;
        counts[i] = 1;
        aints[i] = 0;
        zeros[i] = 0;
    }
    for (int i = 0; i < 4; i++) {
        requests[i] = MPI_REQUEST_NULL;
        types[i] = MPI_INT;
        distribs[i] = MPI_DISTRIBUTE_NONE;
    }
}

static MPIX_Stream streams[4];
static MPI_Group groups[4];
static MPI_Info infos[4], good_info;
static MPI_Errhandler errhandlers[4];
static MPI_Session sessions[4], good_session, live_session;
static MPI_Win wins[4];
static MPI_File files[4];
static MPI_Message messages[4];
static MPI_T_cvar_handle good_cvar;
static MPI_T_pvar_session good_pvar_session;
static MPI_T_pvar_handle good_pvar;
static MPI_T_event_registration good_registration;

static void combine(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
}

#include "fuzz_cases.h"

/* ---- patterns ---- */

static struct {
    void *bits;
    const char *kind; /* of a live handle, which is right where this kind is wanted */
} junk[MOST_JUNK];
static int njunk;

static void add(void *bits, const char *kind)
{
    if (njunk < MOST_JUNK) {
        junk[njunk].bits = bits;
        junk[njunk++].kind = kind;
    }
}

/* A live handle, and what lies around it. */
static void add_live(void *handle, const char *kind)
{
    add(handle, kind);
    add((char *)handle + 1, "");
    add((char *)handle + 8, "");
    add((char *)handle + 64, "");
    add((char *)handle - 64, "");
    add((char *)handle + (1 << 30), "");
}

static void ignore(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static void add_objects(void)
{
    MPI_Comm comm[2];
    MPI_Group group[2];
    MPI_Datatype type[2];
    MPI_Op op[2];
    MPI_Info info[2];
    MPI_Errhandler errhandler[2];
    MPI_Session session[2];
    MPI_Request request[2];
    static int value;
    for (int i = 0; i < 2; i++) {
        MPI_Comm_dup(MPI_COMM_SELF, &comm[i]);
        MPI_Group_incl(MPI_GROUP_EMPTY, 0, NULL, &group[i]);
        MPI_Comm_group(comm[i], &group[i]);
        MPI_Type_vector(2, 1, 2, MPI_INT, &type[i]);
        MPI_Type_commit(&type[i]);
        MPI_Op_create(combine, 1, &op[i]);
        MPI_Info_create(&info[i]);
        MPI_Comm_create_errhandler(ignore, &errhandler[i]);
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session[i]);
        MPI_Recv_init(&value, 1, MPI_INT, 0, 99, MPI_COMM_SELF, &request[i]);
    }
    void *freed[] = { comm[1], group[1],      type[1],    op[1],
                      info[1], errhandler[1], session[1], request[1] };
    for (int i = 0; i < (int)(sizeof freed / sizeof *freed); i++)
        add(freed[i], "");
    MPI_Comm_free(&comm[1]);
    MPI_Group_free(&group[1]);
    MPI_Type_free(&type[1]);
    MPI_Op_free(&op[1]);
    MPI_Info_free(&info[1]);
    MPI_Errhandler_free(&errhandler[1]);
    MPI_Session_finalize(&session[1]);
    MPI_Request_free(&request[1]);
    add_live(comm[0], "COMM");
    add_live(group[0], "GROUP");
    add_live(type[0], "TYPE");
    add_live(op[0], "OP");
    add_live(info[0], "INFO");
    add_live(errhandler[0], "ERRHANDLER");
    add_live(session[0], "SESSION");
    live_session = session[0];
    add_live(request[0], "REQUEST");
}

static void add_numbers(void)
{
    static const uintptr_t numbers[] = { 0,
                                         1,
                                         2,
                                         3,
                                         17,
                                         31,
                                         64,
                                         192,
                                         255,
                                         0x300,
                                         0x3ff,
                                         0x400,
                                         0x7ff,
                                         0xfff,
                                         0x1000,
                                         0x1001,
                                         0x7890,
                                         0x84000000,
                                         0x44000000,
                                         UINTPTR_MAX,
                                         UINTPTR_MAX - 63,
                                         UINTPTR_MAX / 2,
                                         1ull << 47 };
    for (int i = 0; i < (int)(sizeof numbers / sizeof *numbers); i++)
        add((void *)numbers[i], "");
    add(memory, "");
    add(&njunk, "");
    add((void *)(uintptr_t)add_numbers, "");
    uint64_t state = 42;
    for (int i = 0; i < RANDOM_JUNK; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t bits = state ^ state >> 29;
        add((void *)(uintptr_t)(i % 2 ? bits : bits >> 17 << 6), "");
    }
}

/* ---- calling ---- */

static sigjmp_buf back;
static volatile sig_atomic_t calling;

static void crash(int signal)
{
    if (calling)
        siglongjmp(back, signal);
    _exit(99);
}

static int says(int code, const char *words)
{
    char string[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, string, &length);
    return strstr(string, words) != NULL;
}

/* Is this pattern a live handle of the kind by now?  Places of freed objects are used again, and
 * beside an object lies another one. */
static int is_live(const char *kind, void *bits)
{
    if (!bits && strcmp(kind, "STREAM") == 0)
        return 1; /* MPIX_STREAM_NULL */
    if ((uintptr_t)bits < 4096)
        return 0;
    return strcmp(kind, "COMM") == 0         ? MPI_Comm_toint(bits)
           : strcmp(kind, "GROUP") == 0      ? MPI_Group_toint(bits)
           : strcmp(kind, "TYPE") == 0       ? MPI_Type_toint(bits)
           : strcmp(kind, "OP") == 0         ? MPI_Op_toint(bits)
           : strcmp(kind, "INFO") == 0       ? MPI_Info_toint(bits)
           : strcmp(kind, "ERRHANDLER") == 0 ? MPI_Errhandler_toint(bits)
           : strcmp(kind, "SESSION") == 0    ? MPI_Session_toint(bits)
           : strcmp(kind, "REQUEST") == 0    ? MPI_Request_toint(bits)
           : strcmp(kind, "MESSAGE") == 0    ? MPI_Message_toint(bits)
                                             : 0;
}

/* 1: as it should be. */
static int check_junk(const struct junk_case *c, int i)
{
    int tool = strcmp(c->kind, "TOOL") == 0 || strncmp(c->function, "MPI_T_", 6) == 0;
    int signal = sigsetjmp(back, 1), code = MPI_SUCCESS;
    if (is_live(c->kind, junk[i].bits) || (tool && junk[i].bits == MPI_T_PVAR_ALL_HANDLES))
        return 1;
    set_right();
    calling = 1;
    alarm(PATIENCE);
    if (!signal)
        code = c->call(junk[i].bits);
    calling = 0;
    if (!signal && code != MPI_SUCCESS && (tool || says(code, c->function)))
        return 1;
    printf("%s, %s = %p (%s): signal %d, code %d\n", c->function, c->argument, junk[i].bits,
           junk[i].kind, signal, code);
    return 0;
}

static int check_null(const struct null_case *c)
{
    int signal = sigsetjmp(back, 1), code = MPI_SUCCESS;
    set_right();
    calling = 1;
    alarm(PATIENCE);
    if (!signal)
        code = c->call();
    calling = 0;
    int fine = !signal && (!c->must || (code != MPI_SUCCESS && says(code, c->function) &&
                                        says(code, c->argument)));
    if (!fine)
        printf("%s, %s = NULL: signal %d, code %d\n", c->function, c->argument, signal, code);
    return fine;
}

/* ---- handles as integers ---- */

static int check_integers(void)
{
    int bad = 0;
    for (int i = 0; i < njunk; i++) {
        MPI_Comm comm = junk[i].bits;
        int n = MPI_Comm_toint(comm);
        bad += (uintptr_t)comm < 4096 ? n != (int)(intptr_t)comm
                                      : n != 0 && MPI_Comm_fromint(n) != comm;
        MPI_Request_toint(junk[i].bits);
        MPI_Type_toint(junk[i].bits);
        int bits = (int)(intptr_t)junk[i].bits;
        if (bits >= 4096 || bits <= 0) {
            MPI_Comm back_again = MPI_Comm_fromint(bits);
            bad += back_again != MPI_COMM_NULL && MPI_Comm_toint(back_again) != bits;
        }
    }
    if (bad)
        printf("%d integers do not stand for what they should\n", bad);
    return bad;
}

static void prepare(void)
{
    int one = 1, yes = 1, index[1] = { 1 }, self[1] = { 0 }, provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Info_create(&good_info);
    MPI_Info_set(good_info, "text", "value");
    MPI_Type_vector(2, 1, 2, MPI_INT, &strided);
    MPI_Psend_init(memory, 4, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, MPI_INFO_NULL,
                   &good_part);
    MPI_Start(&good_part);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &good_session);
    MPI_Cart_create(MPI_COMM_SELF, 1, &one, &yes, 0, &grid);
    MPI_Graph_create(MPI_COMM_SELF, 1, index, self, 0, &graph);
    MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, self, &one, 1, self, &one, MPI_INFO_NULL,
                                   0, &dist);
    MPI_T_cvar_handle_alloc(0, NULL, &good_cvar, &one);
    MPI_T_pvar_session_create(&good_pvar_session);
    MPI_T_pvar_handle_alloc(good_pvar_session, 0, NULL, &good_pvar, &one);
    MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &good_registration);
    add_numbers();
    add_objects();
    signal(SIGSEGV, crash);
    signal(SIGBUS, crash);
    signal(SIGABRT, crash);
    signal(SIGFPE, crash);
    signal(SIGALRM, crash); /* a call that does not end */
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    prepare();
    setvbuf(stdout, NULL, _IOLBF, 0);
    int bad = 0, calls = 0, n = (int)(sizeof junk_cases / sizeof *junk_cases);
    for (int c = 0; c < n; c++)
        for (int i = 0, found = 0; i < njunk && found < 3; i++, calls++)
            found += !check_junk(&junk_cases[c], i), bad += found > 0;
    int m = (int)(sizeof null_cases / sizeof *null_cases);
    for (int c = 0; c < m; c++, calls++)
        bad += !check_null(&null_cases[c]);
    bad += check_integers();
    printf("%d calls, %d not as they should be\n", calls, bad);
    alarm(PATIENCE); /* what else was left over is nobody's */
    MPI_Session_finalize(&good_session);
    MPI_Session_finalize(&live_session);
    MPI_Finalize();
    return bad != 0;
}

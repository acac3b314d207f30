/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages from and to memory of several devices, with a driver that pretends (XMPI_LIBCUDA): which
 * way they go, what happens when memory is used again, when there are too many handles, and when
 * their owner dies.   moves CASE, two ranks
 */
#include "fake.h"
#include "runtime/cuda_abi.h"
#include "test/conform/check.h"

#include <mpix.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

static struct {
    cuda_context (*context)(int device);
    size_t (*pinned)(void);
    unsigned (*questions)(void);
    size_t (*crossed)(void);
    size_t (*moved)(void); /* by the network, if that pretends as well */
    cuda_result (*alloc)(cuda_address *at, size_t bytes);
    cuda_result (*alloc_managed)(cuda_address *at, size_t bytes, unsigned flags);
    cuda_result (*free)(cuda_address at);
    cuda_ctx_push_current *push;
    cuda_ctx_pop_current *pop;
} driver;

static void *driver_function(const char *name)
{
    void *found = dlsym(dlopen(getenv("XMPI_LIBCUDA"), RTLD_NOW | RTLD_LOCAL), name);
    CHECK(found);
    return found;
}

static void driver_open(void)
{
    *(void **)&driver.context = driver_function("fake_context");
    *(void **)&driver.pinned = driver_function("fake_pinned");
    *(void **)&driver.questions = driver_function("fake_questions");
    *(void **)&driver.crossed = driver_function("fake_crossed");
    *(void **)&driver.alloc = driver_function("cuMemAlloc_v2");
    *(void **)&driver.alloc_managed = driver_function("cuMemAllocManaged");
    *(void **)&driver.free = driver_function("cuMemFree_v2");
    *(void **)&driver.push = driver_function("cuCtxPushCurrent_v2");
    *(void **)&driver.pop = driver_function("cuCtxPopCurrent_v2");
}

/* Where a buffer may lie. */
enum place { NORMAL, DEVICE_0, DEVICE_1, MANAGED, POOL, PLACES };

static void *place_alloc(enum place place, size_t bytes)
{
    cuda_address at = 0;
    cuda_context gone;
    if (place == NORMAL)
        return malloc(bytes);
    if (place == POOL)
        return (void *)((uintptr_t)fake_device(malloc(bytes)) | FAKE_POOL);
    CHECK(driver.push(driver.context(place == DEVICE_1)) == 0);
    CHECK((place == MANAGED ? driver.alloc_managed(&at, bytes, 1) : driver.alloc(&at, bytes)) ==
          0);
    CHECK(driver.pop(&gone) == 0);
    return (void *)(uintptr_t)at;
}

static void place_free(enum place place, void *at)
{
    if (place == NORMAL || place == POOL)
        free(fake_host(at));
    else
        CHECK(driver.free((uintptr_t)at) == 0);
}

static char item(size_t i, unsigned salt)
{
    return (char)((i * 2654435761u + salt * 40503u) >> 11);
}

static void fill(void *at, size_t bytes, unsigned salt)
{
    char *host = fake_host(at);
    for (size_t i = 0; i < bytes; i++)
        host[i] = item(i, salt);
}

static bool is_filled(void *at, size_t bytes, unsigned salt)
{
    const char *host = fake_host(at);
    for (size_t i = 0; i < bytes; i++)
        if (host[i] != item(i, salt))
            return false;
    return true;
}

/* Bytes that this process has read from devices of others. */
static unsigned long long bytes_read(void)
{
    static MPI_T_pvar_session session;
    static MPI_T_pvar_handle handle;
    static bool open;
    unsigned long long bytes;
    int provided, index, count;
    if (!open) {
        MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
        CHECK(MPI_T_pvar_session_create(&session) == 0);
        CHECK(MPI_T_pvar_get_index("xmpi_bytes_read_device", MPI_T_PVAR_CLASS_AGGREGATE,
                                   &index) == 0);
        CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == 0);
        CHECK(MPI_T_pvar_start(session, handle) == 0);
        open = true;
    }
    CHECK(MPI_T_pvar_read(session, handle, &bytes) == 0);
    return bytes;
}

/* ---- all pairs of places ----
 * A thread may have a context, that of device 0; without one it cannot copy memory of a pool, nor read
 * what it receives in memory of the host. */

static bool has_context;

static bool is_direct(enum place from, enum place to, size_t bytes)
{
    const char *least = getenv("XMPI_CUDA_IPC"), *lonely = getenv("FAKE_NO_PEERS");
    const char *shared = getenv("XMPI_SHM");
    if ((least && *least == '0') || (shared && *shared == '0') || bytes < 32768)
        return false;
    if (lonely && (from == DEVICE_1) != (to == DEVICE_1))
        return false;
    if ((to == NORMAL || to == POOL) && !has_context)
        return false;
    return from == DEVICE_0 || from == DEVICE_1;
}

static void one_pair(enum place from, enum place to, size_t bytes, MPI_Datatype type,
                     size_t extent)
{
    unsigned salt = (unsigned)(from * 100 + to * 10 + bytes % 7);
    if (world_rank() == 0) {
        void *at = place_alloc(from, bytes);
        fill(at, bytes, salt);
        CHECK(MPI_Send(at, (int)bytes, MPI_BYTE, 1, 5, MPI_COMM_WORLD) == 0);
        place_free(from, at);
        return;
    }
    void *at = place_alloc(to, extent), *flat = malloc(bytes);
    unsigned long long before = bytes_read();
    int position = 0;
    CHECK(MPI_Recv(at, 1, type, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == 0);
    CHECK(bytes_read() - before == (is_direct(from, to, bytes) ? bytes : 0));
    CHECK(MPI_Pack(fake_host(at), 1, type, flat, (int)bytes, &position, MPI_COMM_WORLD) == 0);
    CHECK(is_filled(flat, bytes, salt));
    free(flat);
    place_free(to, at);
}

static void pairs(void)
{
    static const int rows[] = { 7, 400, 3000, 40000 };
    int places = has_context ? PLACES : POOL;
    if (has_context)
        CHECK(driver.push(driver.context(0)) == 0);
    for (int from = 0; from < places; from++)
        for (int to = 0; to < places; to++)
            for (int i = 0; i < (from == DEVICE_0 ? 4 : 3); i++) {
                MPI_Datatype type;
                size_t bytes = (size_t)rows[i] * 120;
                MPI_Type_contiguous((int)bytes, MPI_BYTE, &type);
                MPI_Type_commit(&type);
                one_pair(from, to, bytes, type, bytes);
                MPI_Type_free(&type);
                MPI_Type_vector(rows[i], 120, 128, MPI_BYTE, &type);
                MPI_Type_commit(&type);
                one_pair(from, to, bytes, type, (size_t)rows[i] * 128);
                MPI_Type_free(&type);
            }
}

/* ---- another node, over a network that reaches devices (fabric/fake_fabric.c) ---- */

/* Before anything was sent there is no network. */
static size_t moved(void)
{
    if (!driver.moved) {
        void *fabric = dlopen("libfabric.so.1", RTLD_NOW | RTLD_NOLOAD);
        *(void **)&driver.moved = fabric ? dlsym(fabric, "fake_fabric_moved") : NULL;
    }
    return driver.moved ? driver.moved() : 0;
}

static bool is_registered(enum place place)
{
    return !getenv("FAKE_HMEM") && !getenv("XMPI_OFI_HMEM") &&
           (place == DEVICE_0 || place == DEVICE_1);
}

static void over_network(enum place from, enum place to, size_t bytes)
{
    unsigned salt = (unsigned)(from * 10 + to);
    bool sends = world_rank() == 0;
    bool direct =
        (from == NORMAL || is_registered(from)) && (to == NORMAL || is_registered(to));
    enum place mine = sends ? from : to;
    void *at = place_alloc(mine, bytes);
    size_t before = moved(), crossed = driver.crossed();
    fill(at, bytes, sends ? salt : salt + 1);
    if (sends)
        CHECK(MPI_Send(at, (int)bytes, MPI_BYTE, 1, 5, MPI_COMM_WORLD) == 0);
    else
        CHECK(MPI_Recv(at, (int)bytes, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == 0);
    CHECK(sends || is_filled(at, bytes, salt));
    CHECK(sends || getenv("FAKE_HMEM") || moved() - before == (direct ? bytes : 0));
    /* Its own memory, that is: managed memory has addresses of the host. */
    if (mine != MANAGED)
        CHECK((driver.crossed() - crossed <= 1) == (direct || mine == NORMAL));
    place_free(mine, at);
}

static void network(void)
{
    CHECK(driver.push(driver.context(0)) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    moved();
    CHECK(driver.moved);
    for (int from = 0; from < PLACES; from++)
        for (int to = 0; to < PLACES; to++)
            for (size_t bytes = 100000; bytes < 10000000; bytes *= 30)
                over_network(from, to, bytes);
}

/* ---- addresses that are used again ---- */

static void reuse(void)
{
    enum { ROUNDS = 300 };
    void *first = NULL;
    bytes_read();
    for (unsigned round = 0; round < ROUNDS; round++) {
        size_t bytes = 40000 + round % 3 * 50000;
        void *at = place_alloc(DEVICE_0, bytes);
        first = round ? first : at;
        CHECK(at == first);
        fill(at, bytes, world_rank() ? 77 : round);
        if (world_rank() == 0) {
            CHECK(MPI_Send(at, (int)bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD) == 0);
        } else {
            CHECK(MPI_Recv(at, (int)bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
                  0);
            CHECK(is_filled(at, bytes, round));
        }
        place_free(DEVICE_0, at);
    }
    CHECK(world_rank() == 0 || bytes_read() > 0);
}

/* ---- more handles than are kept, or than the driver has ---- */

static void handles(void)
{
    enum { BUFFERS = 80, BYTES = 40000 };
    void *at[BUFFERS];
    MPI_Request requests[BUFFERS];
    for (int i = 0; i < BUFFERS; i++)
        at[i] = place_alloc(DEVICE_0, BYTES);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < BUFFERS; i++) {
            if (world_rank() == 0)
                fill(at[i], BYTES, (unsigned)(round * BUFFERS + i));
            if (world_rank() == 0)
                MPI_Isend(at[i], BYTES, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]);
            else
                MPI_Irecv(at[i], BYTES, MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[i]);
        }
        CHECK(MPI_Waitall(BUFFERS, requests, MPI_STATUSES_IGNORE) == 0);
        for (int i = 0; i < BUFFERS && world_rank() == 1; i++)
            CHECK(is_filled(at[i], BYTES, (unsigned)(round * BUFFERS + i)));
    }
    for (int i = 0; i < BUFFERS; i++)
        place_free(DEVICE_0, at[i]);
}

/* ---- staging is bounded: what all messages in progress pin ---- */

static void pool(void)
{
    enum { MESSAGES = 12, BYTES = 3000000 };
    void *at[MESSAGES];
    MPI_Request requests[MESSAGES];
    for (int i = 0; i < MESSAGES; i++) {
        at[i] = place_alloc(DEVICE_0, BYTES);
        fill(at[i], BYTES, world_rank() ? 0 : (unsigned)i);
        if (world_rank() == 0)
            MPI_Isend(at[i], BYTES, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Irecv(at[i], BYTES, MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[i]);
    }
    CHECK(MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE) == 0);
    CHECK(driver.pinned() > 0 && driver.pinned() <= (1 << 20) + (128 << 10)); /* and a bounce */
    for (int i = 0; i < MESSAGES; i++) {
        CHECK(is_filled(at[i], BYTES, (unsigned)i));
        place_free(DEVICE_0, at[i]);
    }
}

/* ---- what memory of the host costs where there is a driver: one question per buffer ---- */

static void asks(unsigned most, unsigned before, const char *call)
{
    unsigned asked = driver.questions() - before;
    if (asked != most)
        fprintf(stderr, "%s has asked %u times, not %u\n", call, asked, most);
    CHECK(asked == most);
}
#define ASKS(most, call)                                                                       \
    do {                                                                                       \
        unsigned before = driver.questions();                                                  \
        CHECK((call) == 0);                                                                    \
        asks(most, before, #call);                                                             \
    } while (0)

static void questions_of_messages(char *a, char *b, int n)
{
    int peer = 1 - world_rank();
    MPI_Request requests[2];
    MPI_Status *ignore = MPI_STATUS_IGNORE;
    ASKS(1, MPI_Irecv(a, n, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[0]));
    ASKS(1, MPI_Isend(b, n, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[1]));
    ASKS(0, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    ASKS(2, MPI_Sendrecv(a, n, MPI_BYTE, peer, 0, b, n, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
                         ignore));
    ASKS(1, MPI_Recv_init(a, n, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[0]));
    ASKS(1, MPI_Send_init(b, n, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[1]));
    for (int i = 0; i < 3; i++) {
        ASKS(0, MPI_Startall(2, requests));
        ASKS(0, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    if (world_rank() == 0)
        ASKS(1, MPI_Send(a, n, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
    else
        ASKS(1, MPI_Recv(a, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD, ignore));
}

static void questions_of_collectives(char *a, char *b, int n)
{
    MPI_Comm all = MPI_COMM_WORLD;
    ASKS(1, MPI_Bcast(a, n, MPI_BYTE, 0, all));
    ASKS(2, MPI_Allreduce(a, b, n, MPI_BYTE, MPI_BOR, all));
    ASKS(1, MPI_Allreduce(MPI_IN_PLACE, a, n, MPI_BYTE, MPI_BOR, all));
    ASKS(2, MPI_Allgather(a, n, MPI_BYTE, b, n, MPI_BYTE, all));
    ASKS(2, MPI_Alltoall(a, n / 2, MPI_BYTE, b, n / 2, MPI_BYTE, all));
    ASKS(0, MPI_Barrier(all));
}

static void questions(void)
{
    enum { MOST = 1 << 20 };
    char *a = calloc(2, MOST), *b = calloc(2, MOST);
    MPIX_Query_cuda_support();
    for (int n = 8; n <= MOST; n *= 64) {
        questions_of_messages(a, b, n);
        questions_of_collectives(a, b, n);
    }
    free(a);
    free(b);
}

/* ---- the owner dies: while its memory is mapped, and before it can be ---- */

static void owner_dies(void)
{
    enum { BYTES = 100000 };
    void *at = place_alloc(DEVICE_0, BYTES);
    MPI_Request request;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (world_rank() == 0) {
        MPI_Send(at, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Isend(at, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
        raise(SIGKILL);
    }
    MPI_Recv(at, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(200000);
    CHECK_ERROR(MPI_Recv(at, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                MPIX_ERR_PROC_FAILED);
    printf("back\n");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    driver_open();
    has_context = strcmp(argv[1], "pairs") == 0;
    if (strncmp(argv[1], "pairs", 5) == 0)
        pairs();
    else if (strcmp(argv[1], "reuse") == 0)
        reuse();
    else if (strcmp(argv[1], "handles") == 0)
        handles();
    else if (strcmp(argv[1], "network") == 0)
        network();
    else if (strcmp(argv[1], "questions") == 0)
        questions();
    else if (strcmp(argv[1], "pool") == 0)
        pool();
    else
        owner_dies();
    return check_done();
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Process sets of the launcher, for psets.sh: the arguments are the named sets that this rank
 * belongs to.  It must be shown exactly these, beside those of the standard and of xmpi; each has
 * the size that its group has, contains this rank and can become a communicator.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                       \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                   \
            exit(99);                                                                          \
        }                                                                                      \
    } while (0)

static MPI_Session session;

static MPI_Group group_of(const char *name)
{
    MPI_Group group;
    CHECK(MPI_Group_from_session_pset(session, name, &group) == MPI_SUCCESS);
    return group;
}

static void check_set(const char *name)
{
    char value[64];
    int length = sizeof value, flag, rank, size, sum, one = 1;
    MPI_Info info;
    MPI_Comm comm;
    MPI_Group group = group_of(name);
    MPI_Group_size(group, &size);
    MPI_Group_rank(group, &rank);
    CHECK(rank >= 0 && rank < size);
    CHECK(MPI_Session_get_pset_info(session, name, &info) == MPI_SUCCESS);
    MPI_Info_get_string(info, "mpi_size", &length, value, &flag);
    CHECK(flag && atoi(value) == size);
    MPI_Info_free(&info);
    CHECK(MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) ==
          MPI_SUCCESS);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
}

/* The sets that I am shown: those of the arguments, each once, and no other name. */
static void check_names(int argc, char **argv)
{
    int n, named = 0;
    CHECK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n) == MPI_SUCCESS);
    for (int i = 0; i < n; i++) {
        char name[MPI_MAX_PSET_NAME_LEN];
        int length = sizeof name, needed = 0;
        CHECK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &needed, NULL) ==
              MPI_SUCCESS);
        CHECK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name) ==
              MPI_SUCCESS);
        CHECK(length == needed && (int)strlen(name) + 1 == length);
        check_set(name);
        if (!strncmp(name, "mpi://", 6) || !strncmp(name, "xmpi://", 7))
            continue;
        bool wanted = false;
        for (int k = 1; k < argc; k++)
            wanted = wanted || !strcmp(argv[k], name);
        CHECK(wanted);
        named++;
    }
    CHECK(named == argc - 1);
}

/* All processes ask for the set "both"; the others get nothing. */
static void check_split(bool member)
{
    MPI_Group world = group_of("mpi://WORLD"), both = group_of("both");
    MPI_Comm all, part;
    MPI_Info info;
    int size, wanted;
    MPI_Comm_create_from_group(world, "split", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all);
    MPI_Group_size(both, &wanted);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_pset_name", "both");
    CHECK(MPI_Comm_split_type(all, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &part) ==
          MPI_SUCCESS);
    CHECK((part != MPI_COMM_NULL) == member);
    if (member) {
        MPI_Comm_size(part, &size);
        CHECK(size == wanted);
        MPI_Comm_free(&part);
    }
    MPI_Info_free(&info);
    MPI_Comm_free(&all);
    MPI_Group_free(&both);
    MPI_Group_free(&world);
}

/* Two programs meet that know nothing of each other but their numbers. */
static void check_meeting(void)
{
    MPI_Group first = group_of("xmpi://app/0"), second = group_of("xmpi://app/1");
    MPI_Comm comm;
    int rank, size, remote, mine = 1, sum;
    MPI_Group_rank(first, &rank);
    bool is_first = rank != MPI_UNDEFINED;
    MPI_Group_rank(second, &rank);
    if (is_first || rank != MPI_UNDEFINED) {
        MPI_Group us = is_first ? first : second, them = is_first ? second : first;
        MPI_Group_size(them, &size);
        CHECK(MPI_Intercomm_create_from_groups(us, 0, them, 0, "meeting", MPI_INFO_NULL,
                                               MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
        MPI_Comm_remote_size(comm, &remote);
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(remote == size && sum == size);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&first);
    MPI_Group_free(&second);
}

int main(int argc, char **argv)
{
    MPI_Group group;
    bool in_both = false;
    setvbuf(stdout, NULL, _IOLBF, 0);
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    for (int i = 1; i < argc; i++)
        in_both = in_both || !strcmp(argv[i], "both");
    check_names(argc, argv);
    check_split(in_both);
    check_meeting();
    CHECK(MPI_Group_from_session_pset(session, "no such set", &group) != MPI_SUCCESS);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
    puts("good");
    return 0;
}

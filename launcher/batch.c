/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Batch systems.  Each says in its own way which hosts a job has and how many ranks each is for:
 *
 *     Slurm          SLURM_JOB_NODELIST n[1-3], SLURM_TASKS_PER_NODE 2(x2),1
 *     PBS, Torque    PBS_NODEFILE       a line per slot
 *     LSF            LSB_DJOB_HOSTFILE  a line per slot, or LSB_MCPU_HOSTS "a 4 b 4"
 *     Grid Engine    PE_HOSTFILE        lines "name slots queue range"
 *     Cobalt         COBALT_NODEFILE    a line per host
 *
 * Hosts of Slurm, LSF and Grid Engine are reached by the system's own command, which needs no ssh
 * between them and lets the system count and end what runs there; those of others by ssh.  PBS has
 * pbsdsh and pbs_tmrsh, but these pass no stdin on, where the secret comes from.
 */
#include "launcher/batch.h"

#include "launcher/out.h"
#include "launcher/program.h"
#include "launcher/ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* All CPUs of the host that are the job's, next to whatever else runs there, and no MPI of
 * Slurm's. */
#define SRUN_AGENT                                                                             \
    "srun --overlap --nodes=1 --ntasks=1 --nodelist={host} --mpi=none --cpu-bind=none "        \
    "--kill-on-bad-exit=0 --quiet {cmd}"

static const char *value_of(const char *name)
{
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

/* JOB_ID is a word that others use, too; Grid Engine says where it is installed, and in a parallel job
 * which hosts there are. */
bool batch_is_here(void)
{
    static const char *const marks[] = { "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID",
                                         "FLUX_JOB_ID", "COBALT_JOBID" };
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (getenv(marks[i]))
            return true;
    return getenv("JOB_ID") && (value_of("SGE_ROOT") || value_of("PE_HOSTFILE"));
}

static bool is_slurm(void)
{
    return value_of("SLURM_JOB_ID") && value_of("SLURM_JOB_NODELIST");
}

const char *batch_own_name(void)
{
    return is_slurm() ? value_of("SLURMD_NODENAME") : NULL;
}

static bool is_lsf(void)
{
    return value_of("LSB_JOBID") &&
           (value_of("LSB_DJOB_HOSTFILE") || value_of("LSB_MCPU_HOSTS"));
}

static bool is_grid_engine(void)
{
    return value_of("JOB_ID") && value_of("PE_HOSTFILE");
}

/* Hosts may have been left without the commands; ssh may do. */
static bool is_installed(const char *command)
{
    return program_is_in(value_of("PATH"), command);
}

const char *batch_agent(void)
{
    if (is_slurm())
        return SRUN_AGENT;
    if (is_lsf() && is_installed("blaunch"))
        return "blaunch {host} {cmd}";
    if (is_grid_engine() && is_installed("qrsh"))
        return "qrsh -inherit {host} {cmd}";
    return NULL;
}

/* ---- Slurm ---- */

/* A count for each host.  A step inside the job has counts of its own, which do not match: then
 * the CPUs of the hosts do. */
static void slurm_slots(struct host_list *list)
{
    static const char *const names[] = { "SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE" };
    int *slots = calloc((size_t)list->n + 1, sizeof *slots);
    if (!slots)
        abort();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *text = value_of(names[i]);
        if (!text || ranges_counts(text, slots, list->n) != list->n)
            continue;
        for (int host = 0; host < list->n; host++)
            list->hosts[host].slots = slots[host];
        break;
    }
    free(slots);
}

static int slurm_hosts(struct host_list *list)
{
    int status = hosts_add(list, value_of("SLURM_JOB_NODELIST"), (struct host_words){ 0 },
                           "SLURM_JOB_NODELIST: ");
    if (!status)
        slurm_slots(list);
    return status;
}

/* ---- others ---- */

static const char blanks[] = " \t\n";

/* "a 4 b 4" */
static int pairs(struct host_list *list, const char *text, const char *where)
{
    char *save, *copy = strdup(text);
    int status = 0;
    for (char *name = strtok_r(copy, blanks, &save); name && !status;
         name = strtok_r(NULL, blanks, &save)) {
        const char *count = strtok_r(NULL, blanks, &save);
        int slots;
        if (count && ranges_counts(count, &slots, 1) == 1 && slots <= RANGES_MOST) {
            status = hosts_add(list, name, (struct host_words){ .slots = slots }, where);
        } else {
            complain("%sthere is no number of slots after %s", where, name);
            status = EXIT_USAGE;
        }
    }
    free(copy);
    return status;
}

/* Lines "name slots queue range"; a range names each processor. */
static int grid_engine_hosts(struct host_list *list, const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file) {
        complain("cannot read PE_HOSTFILE %s: %s", path, strerror(errno));
        return EXIT_USAGE;
    }
    char *line = NULL, where[300];
    size_t room = 0;
    int status = 0;
    for (int number = 1; !status && getline(&line, &room, file) >= 0; number++) {
        size_t name = strspn(line, blanks), count = name + strcspn(line + name, blanks);
        count += strspn(line + count, blanks);
        line[count + strcspn(line + count, blanks)] = 0; /* what follows may be long */
        snprintf(where, sizeof where, "%s:%d: ", path, number);
        status = pairs(list, line, where);
    }
    free(line);
    fclose(file);
    return status;
}

static const struct {
    const char *variable;
    int each; /* slots that a line stands for; 0: a host */
} files[] = {
    { "PBS_NODEFILE", 1 },
    { "LSB_DJOB_HOSTFILE", 1 },
    { "COBALT_NODEFILE", 0 },
};

/* Complaints end with where it was to be found. */
static int hosts_from(struct host_list *list, const char *variable, int each)
{
    int status = hostfile_read(list, value_of(variable), each);
    if (status)
        complain("%s=%s is where the batch system says which hosts the job has", variable,
                 value_of(variable));
    return status;
}

int batch_hosts(struct host_list *list)
{
    if (is_slurm())
        return slurm_hosts(list);
    if (!batch_is_here())
        return 0;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (value_of(files[i].variable))
            return hosts_from(list, files[i].variable, files[i].each);
    if (value_of("LSB_MCPU_HOSTS"))
        return pairs(list, value_of("LSB_MCPU_HOSTS"), "LSB_MCPU_HOSTS: ");
    if (value_of("PE_HOSTFILE"))
        return grid_engine_hosts(list, value_of("PE_HOSTFILE"));
    return 0;
}

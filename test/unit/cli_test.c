/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/cli.h"
#include "launcher/out.h"

#include "test/unit/unit.h"

#include <string.h>
#include <unistd.h>

enum { MOST_WORDS = 64 };

/* Parse a command line given as one string; words are separated by single blanks. */
static int parse(const char *line, struct options *options)
{
    static char copy[1024];
    char *argv[MOST_WORDS] = { "xmpirun" };
    int argc = 1;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word && argc < MOST_WORDS; word = strtok(NULL, " "))
        argv[argc++] = strdup(word);
    complaints_wanted = false;
    int status = cli_parse(argc, argv, options);
    complaints_wanted = true;
    return status;
}

START_TEST(programs_keep_their_arguments)
{
    struct options o;
    ck_assert_int_eq(parse("-np 4 prog -np 7 --help x", &o), 0);
    ck_assert_int_eq(o.napps, 1);
    ck_assert_int_eq(o.apps[0].np, 4);
    ck_assert_str_eq(o.apps[0].argv[1], "-np");
    ck_assert_str_eq(o.apps[0].argv[3], "--help");
    ck_assert_ptr_null(o.apps[0].argv[5]);
    ck_assert_int_eq(parse("-np 2 -- -odd", &o), 0);
    ck_assert_str_eq(o.apps[0].argv[0], "-odd");
}
END_TEST

START_TEST(all_spellings_of_a_number_of_ranks)
{
    static const char *const lines[] = { "-n 3 p",   "-np 3 p",      "--np 3 p",    "-c 3 p",
                                         "--np=3 p", "--ntasks 3 p", "--nprocs=3 p" };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct options o;
        ck_assert_msg(parse(lines[i], &o) == 0, "%s", lines[i]);
        ck_assert_int_eq(o.apps[0].np, 3);
    }
    static const char *const per_host[] = { "-ppn 3 p",
                                            "-N 3 p",
                                            "--nproc_per_node=3 p",
                                            "--nproc-per-node 3 p",
                                            "--npernode 3 p",
                                            "--map-by ppr:3:node p" };
    for (size_t i = 0; i < sizeof per_host / sizeof per_host[0]; i++) {
        struct options o;
        ck_assert_msg(parse(per_host[i], &o) == 0, "%s", per_host[i]);
        ck_assert_int_eq(o.map.per_host, 3);
        ck_assert_int_eq(o.apps[0].np, -1);
    }
}
END_TEST

START_TEST(sections_have_their_own_options)
{
    struct options o;
    ck_assert_int_eq(parse("-genv G 1 -np 1 -x A=1 -wdir /tmp a b : -l -n 2 -env B 2 c", &o),
                     0);
    ck_assert_int_eq(o.napps, 2);
    ck_assert_str_eq(o.apps[0].wdir, "/tmp");
    ck_assert_ptr_null(o.apps[1].wdir);
    ck_assert_str_eq(o.apps[0].env.set.text[0], "A=1");
    ck_assert_str_eq(o.apps[1].env.set.text[0], "B=2");
    ck_assert_int_eq(o.apps[1].env.set.n, 1);
    ck_assert_str_eq(o.env.set.text[0], "G=1");
    ck_assert_int_eq(o.iof.tag, TAG_RANK);
    ck_assert_int_eq(o.apps[1].np, 2);
}
END_TEST

START_TEST(variables_in_one_word_or_two)
{
    struct options o;
    ck_assert_int_eq(parse("-genv A=1 -genv B 2 -env C=3 -env D 4=5 p", &o), 0);
    ck_assert_int_eq(o.env.set.n, 2);
    ck_assert_str_eq(o.env.set.text[0], "A=1");
    ck_assert_str_eq(o.env.set.text[1], "B=2");
    ck_assert_str_eq(o.apps[0].env.set.text[0], "C=3");
    ck_assert_str_eq(o.apps[0].env.set.text[1], "D=4=5");
    ck_assert_int_eq(parse("--genv=A=1 --genv=B 2 -env=C=3 p", &o), 0);
    ck_assert_str_eq(o.env.set.text[0], "A=1");
    ck_assert_str_eq(o.env.set.text[1], "B=2");
    ck_assert_str_eq(o.apps[0].env.set.text[0], "C=3");
    ck_assert_str_eq(o.apps[0].argv[0], "p");
}
END_TEST

START_TEST(placement_in_every_custom)
{
    static const struct {
        const char *line;
        enum level by, to;
        int pe, per;
    } rows[] = {
        { "--map-by core p", LEVEL_CORE, LEVEL_UNSET, 0, 0 },
        { "-map-by socket:PE=2 p", LEVEL_PACKAGE, LEVEL_UNSET, 2, 0 },
        { "--map-by ppr:2:numa p", LEVEL_NUMA, LEVEL_UNSET, 0, 2 },
        { "--map-by ppr:2:package:pe=3 p", LEVEL_PACKAGE, LEVEL_UNSET, 3, 2 },
        { "--map-by :pe=4 p", LEVEL_UNSET, LEVEL_UNSET, 4, 0 },
        { "--bind-to core:overload-allowed p", LEVEL_UNSET, LEVEL_CORE, 0, 0 },
        { "-bind-to none p", LEVEL_UNSET, LEVEL_NONE, 0, 0 },
        { "--bind-to hwthread --map-by l3cache p", LEVEL_L3, LEVEL_HWTHREAD, 0, 0 },
        { "--bind-to-core --bynode p", LEVEL_NODE, LEVEL_CORE, 0, 0 },
        { "--map-by numa:oversubscribe,span p", LEVEL_NUMA, LEVEL_UNSET, 0, 0 },
        { "--cpus-per-task 2 p", LEVEL_UNSET, LEVEL_UNSET, 2, 0 },
        { "--map-by ppr:2:core --map-by numa p", LEVEL_NUMA, LEVEL_UNSET, 0, 0 },
        { "--map-by ppr:2:core --bynode p", LEVEL_NODE, LEVEL_UNSET, 0, 0 },
        { "--map-by ppr:2:core --map-by :pe=2 p", LEVEL_CORE, LEVEL_UNSET, 2, 2 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct options o;
        ck_assert_msg(parse(rows[i].line, &o) == 0, "%s", rows[i].line);
        ck_assert_msg(o.map.by == rows[i].by && o.map.to == rows[i].to, "%s", rows[i].line);
        ck_assert_msg(o.map.pe == rows[i].pe && o.map.per == rows[i].per, "%s", rows[i].line);
    }
}
END_TEST

START_TEST(hosts_of_sections_are_noticed)
{
    struct options o;
    ck_assert_int_eq(parse("-H a -np 1 p : -np 2 q", &o), 0);
    ck_assert_int_eq(o.hosts_section, 1);
    ck_assert_int_eq(parse("-np 1 p : -H a -H b -np 2 q", &o), 0);
    ck_assert_int_eq(o.hosts_section, 2);
    ck_assert_int_eq(parse("-np 1 -H a p : -H b -np 2 q", &o), 0);
    ck_assert_int_eq(o.hosts_section, -1);
    ck_assert_int_eq(parse("-H a p : -hostfile f q : r", &o), 0);
    ck_assert_int_eq(o.hosts_section, -1);
}
END_TEST

START_TEST(what_is_displayed)
{
    static const struct {
        const char *line;
        bool map, bindings;
    } rows[] = {
        { "--display map p", true, false },
        { "--display bind p", false, true },
        { "--display map-devel,bindings:parseable p", true, true },
        { "--display allocation p", true, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct options o;
        ck_assert_msg(parse(rows[i].line, &o) == 0, "%s", rows[i].line);
        ck_assert(o.display_map == rows[i].map && o.bindings == rows[i].bindings);
    }
}
END_TEST

START_TEST(limits_that_nobody_reaches_are_none)
{
    struct options o;
    ck_assert_int_eq(parse("--timeout 0.5 p", &o), 0);
    ck_assert(o.timeout == 0.5);
    static const char *const lines[] = { "--timeout inf p", "--timeout 1e300 p",
                                         "--timeout 99999999999999 p" };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        ck_assert_int_eq(parse(lines[i], &o), 0);
        ck_assert(o.timeout == 0);
    }
}
END_TEST

START_TEST(wrong_lines_are_refused)
{
    static const char *const lines[] = {
        "",
        "-np",
        "-np 0 p",
        "-np 3x p",
        "-np 2",
        "--zzzzzz p",
        "--map-by moon p",
        "--map-by core:moon=1 p",
        "--stdin x p",
        "--timeout -1 p",
        "--timeout 1y p",
        "--bind-to slot p",
        "--l=3 p",
        "-umask 9 p",
        "-umask= p",
        "--output tagged p",
        "-x =3 p",
        "-x= p",
        "-genv =3 p",
        "-env= 3 p",
        "--pmix maybe p",
        "--map-by ppr:x:core p",
        "--map-by ppr:4294967297:core p",
        "--map-by ppr:2 p",
        "--map-by ppr:2: p",
        "--map-by ppr:2:slot p",
        "--map-by ppr:+2:core p",
        "--map-by core:pe=4x p",
        "--map-by core:pe= p",
        "--map-by core:pe=99999999999999 p",
        "--map-by= p",
        "-ppn 2000000000 p",
        "--nnodes 2000000000 --node-rank 0 p",
        "-configfile /",
        "-configfile /no/such/file",
        "-np 2 : p",
        "-np 2 p : -np 3",
        "-np 2 p : -np 3 : q",
        "--bind-to core:garbage p",
        "--display foo p",
        "--display map,foo p",
        "--display= p",
        "--display mapping p",
        "--master-port x p",
        "--master-port 65536 p",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct options o;
        ck_assert_msg(parse(lines[i], &o) == EXIT_USAGE, "accepted: %s", lines[i]);
    }
}
END_TEST

START_TEST(ignored_options_take_their_values)
{
    struct options o;
    ck_assert_int_eq(parse("--mca btl tcp -iface eth0 --allow-run-as-root -np 2 p q", &o), 0);
    ck_assert_int_eq(o.apps[0].np, 2);
    ck_assert_str_eq(o.apps[0].argv[0], "p");
}
END_TEST

START_TEST(streams_as_asked)
{
    struct options o;
    ck_assert_int_eq(parse("--stdin all --output tag,timestamp,dir=D --no-pty p", &o), 0);
    ck_assert_int_eq(o.iof.stdin_rank, STDIN_ALL);
    ck_assert_int_eq(o.iof.tag, TAG_JOB);
    ck_assert(o.iof.timestamp);
    ck_assert_str_eq(o.iof.directory, "D");
    ck_assert_int_eq(parse("--output tag-detailed p", &o), 0);
    ck_assert_int_eq(o.iof.tag, TAG_JOB);
    ck_assert_int_eq(parse("--stdin all --output tag,timestamp,dir=D --no-pty p", &o), 0);
    ck_assert_int_eq(o.iof.pty, 0);
    ck_assert_int_eq(parse("--output-filename E:nocopy p", &o), 0);
    ck_assert(o.iof.files_only);
    ck_assert_str_eq(o.iof.directory, "E");
    ck_assert_int_eq(o.iof.pty, -1);
}
END_TEST

START_TEST(typos_find_what_was_meant)
{
    static const char *const rows[][2] = {
        { "--oversubscibe", "oversubscribe" },
        { "--bind_too", "bind-to" },
        { "--timout=3", "timeout" },
        { "--tag-ouput", "tag-output" },
        { "--hots", "host" },
        { "--mapby", "map-by" },
        { "--report-binding", "report-bindings" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_str_eq(option_nearest(rows[i][0]), rows[i][1]);
    ck_assert_ptr_null(option_nearest("--wxyzvwxyz"));
}
END_TEST

START_TEST(the_table_is_sound)
{
    for (int i = 0; i < noption_rows; i++) {
        const struct option_row *row = &option_rows[i];
        ck_assert_int_ne(row->spelling[0], '-');
        ck_assert_int_ge(row->values, 0);
        ck_assert_int_le(row->values, 2);
        /* values have names, and an alias follows the row it belongs to */
        if (row->text && row->section != SECTION_IGNORED)
            ck_assert_msg((row->values > 0) == (row->metavar[0] != 0), "%s", row->spelling);
        if (!row->text)
            ck_assert_int_eq(row->id, option_rows[i - 1].id);
        for (int j = 0; j < i; j++)
            ck_assert_msg(strcmp(row->spelling, option_rows[j].spelling) != 0, "twice: %s",
                          row->spelling);
    }
}
END_TEST

START_TEST(help_and_manual_name_every_option)
{
    char *text[2];
    size_t bytes;
    for (int manual = 0; manual < 2; manual++) {
        FILE *to = open_memstream(&text[manual], &bytes);
        (manual ? help_manual : help_print)(to);
        fclose(to);
    }
    for (int i = 0; i < noption_rows; i++) {
        ck_assert_msg(strstr(text[0], option_rows[i].spelling), "%s", option_rows[i].spelling);
        if (!strchr(option_rows[i].spelling, '-'))
            ck_assert_msg(strstr(text[1], option_rows[i].spelling), "%s",
                          option_rows[i].spelling);
    }
    for (char *line = strtok(text[0], "\n"); line; line = strtok(NULL, "\n"))
        ck_assert_msg(strlen(line) <= 100, "too wide: %s", line);
    ck_assert(strncmp(text[1], ".TH XMPIRUN 1", 13) == 0);
}
END_TEST

START_TEST(configfiles_are_sections)
{
    char path[] = "/tmp/xmpi-cli-test.XXXXXX";
    int fd = mkstemp(path);
    static const char text[] = "# nothing\n-np 1 a 'b c' \\\n  d\n\n -n 2 e \"f\\\"g\" # end\n";
    ck_assert_int_eq(write(fd, text, sizeof text - 1), (int)sizeof text - 1);
    close(fd);
    char line[128];
    snprintf(line, sizeof line, "-l -configfile %s", path);
    struct options o;
    ck_assert_int_eq(parse(line, &o), 0);
    unlink(path);
    ck_assert_int_eq(o.napps, 2);
    ck_assert_str_eq(o.apps[0].argv[1], "b c");
    ck_assert_str_eq(o.apps[0].argv[2], "d");
    ck_assert_int_eq(o.apps[1].np, 2);
    ck_assert_str_eq(o.apps[1].argv[1], "f\"g");
    ck_assert_int_eq(o.iof.tag, TAG_RANK);
}
END_TEST

/* What other launchers get as the command line gives them the same programs in the same order. */
START_TEST(a_configfile_ends_a_section_for_all)
{
    char path[] = "/tmp/xmpi-cli-test.XXXXXX", line[128];
    int fd = mkstemp(path), n = 0;
    ck_assert_int_eq(write(fd, "-np 2 a\n-np 3 b\n", 16), 16);
    close(fd);
    snprintf(line, sizeof line, "-np 1 -configfile %s -np 4 x", path);
    struct options o, other;
    ck_assert_int_eq(parse(line, &o), 0);
    unlink(path);
    while (o.words[n])
        n++;
    ck_assert_int_eq(cli_parse(n, o.words, &other), 0);
    ck_assert_int_eq(o.napps, 3);
    ck_assert_int_eq(other.napps, 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(o.apps[i].np, i + 2);
        ck_assert_int_eq(other.apps[i].np, i + 2);
        ck_assert_str_eq(o.apps[i].argv[0], i == 0 ? "a" : i == 1 ? "b" : "x");
        ck_assert_str_eq(other.apps[i].argv[0], o.apps[i].argv[0]);
    }
}
END_TEST

START_TEST(a_configfile_that_names_itself_is_refused)
{
    char path[] = "/tmp/xmpi-cli-test.XXXXXX", line[128];
    int fd = mkstemp(path);
    struct options o;
    snprintf(line, sizeof line, "-configfile %s\n", path);
    ck_assert_int_eq(write(fd, line, strlen(line)), (int)strlen(line));
    close(fd);
    snprintf(line, sizeof line, "-configfile %s", path);
    ck_assert_int_eq(parse(line, &o), EXIT_USAGE);
    unlink(path);
}
END_TEST

/* Lists are cut into words, but not in what other launchers get. */
START_TEST(others_get_the_words_as_they_were_typed)
{
    static const char *const values[][2] = { { "--output", "timestamp,tag,file=F" },
                                             { "--output-filename", "D:nocopy" },
                                             { "--genvlist", "A,B,C" },
                                             { "--envlist", "A,B,C" } };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char line[128];
        struct options o;
        snprintf(line, sizeof line, "%s %s p", values[i][0], values[i][1]);
        ck_assert_int_eq(parse(line, &o), 0);
        ck_assert_str_eq(o.words[2], values[i][1]);
        snprintf(line, sizeof line, "%s=%s", values[i][0], values[i][1]);
        char *argv[] = { "xmpirun", line, "p", NULL };
        ck_assert_int_eq(cli_parse(3, argv, &o), 0);
        ck_assert_str_eq(strchr(o.words[1], '=') + 1, values[i][1]);
    }
}
END_TEST

UNIT_MAIN("cli", programs_keep_their_arguments, all_spellings_of_a_number_of_ranks,
          sections_have_their_own_options, variables_in_one_word_or_two,
          placement_in_every_custom, what_is_displayed, wrong_lines_are_refused,
          ignored_options_take_their_values, streams_as_asked, typos_find_what_was_meant,
          the_table_is_sound, help_and_manual_name_every_option, configfiles_are_sections,
          a_configfile_ends_a_section_for_all, a_configfile_that_names_itself_is_refused,
          limits_that_nobody_reaches_are_none, hosts_of_sections_are_noticed,
          others_get_the_words_as_they_were_typed)

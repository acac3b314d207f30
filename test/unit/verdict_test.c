/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/verdict.h"

#include "test/unit/unit.h"

#include <string.h>

#define EXITED(code)   ((code) << 8)
#define SIGNALED(what) (what)

START_TEST(ends_have_consequences)
{
    static const struct {
        struct ending ending; /* wait status, state, wrapped, others in MPI, in a session */
        struct verdict verdict;
        const char *text;
    } rows[] = {
        /* programs without MPI */
        { { EXITED(0), BOOT_STARTED, 0, 0, 0 }, { REACTION_NONE, 0, 0 }, NULL },
        { { EXITED(7), BOOT_STARTED, 0, 0, 0 }, { REACTION_NOTE, 7, 0 }, "exited with code 7" },
        { { SIGNALED(9), BOOT_STARTED, 0, 0, 0 },
          { REACTION_STOP, 137, 9 },
          "signal 9 (Killed)" },
        /* before MPI_Init, while others wait inside */
        { { EXITED(7), BOOT_STARTED, 0, 1, 0 }, { REACTION_STOP, 7, 0 }, "code 7" },
        { { EXITED(0), BOOT_STARTED, 0, 1, 0 }, { REACTION_NONE, 0, 0 }, NULL },
        /* inside MPI */
        { { EXITED(0), BOOT_INITED, 0, 1, 0 }, { REACTION_STOP_SOON, 1, 0 }, "MPI_Finalize" },
        { { EXITED(3), BOOT_INITED, 0, 0, 0 }, { REACTION_STOP, 3, 0 }, "code 3 without" },
        { { EXITED(0), BOOT_INITED, 0, 0, 1 },
          { REACTION_STOP_SOON, 1, 0 },
          "ended without calling MPI_Session_finalize" },
        { { EXITED(3), BOOT_INITED, 0, 0, 1 },
          { REACTION_STOP, 3, 0 },
          "code 3 without calling MPI_Session_finalize" },
        { { SIGNALED(11), BOOT_INITED, 0, 1, 0 }, { REACTION_STOP, 139, 11 }, "signal 11" },
        { { SIGNALED(11 | 128), BOOT_INITED, 0, 1, 0 },
          { REACTION_STOP, 139, 11 },
          "core dumped" },
        /* a shell reports a signal of what ran below it */
        { { EXITED(137), BOOT_INITED, 1, 1, 0 }, { REACTION_STOP, 137, 9 }, "signal 9" },
        { { EXITED(137), BOOT_INITED, 0, 1, 0 }, { REACTION_STOP, 137, 0 }, "code 137" },
        { { EXITED(137), BOOT_STARTED, 1, 0, 0 }, { REACTION_NOTE, 137, 0 }, "code 137" },
        /* after MPI_Finalize nobody depends on it */
        { { EXITED(0), BOOT_FINALIZED, 0, 1, 0 }, { REACTION_NONE, 0, 0 }, NULL },
        { { EXITED(5), BOOT_FINALIZED, 0, 1, 0 },
          { REACTION_NOTE, 5, 0 },
          "exited with code 5" },
        { { SIGNALED(6), BOOT_FINALIZED, 0, 1, 0 }, { REACTION_STOP, 134, 6 }, "signal 6" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct verdict v = verdict_of(&rows[i].ending);
        char text[160];
        ck_assert_msg(v.reaction == rows[i].verdict.reaction &&
                          v.code == rows[i].verdict.code && v.signal == rows[i].verdict.signal,
                      "row %zu: reaction %d, code %d, signal %d", i, v.reaction, v.code,
                      v.signal);
        verdict_text(&rows[i].ending, text, sizeof text);
        ck_assert_msg(!rows[i].text || strstr(text, rows[i].text), "row %zu: %s", i, text);
    }
}
END_TEST

START_TEST(an_abort_is_never_success)
{
    ck_assert_int_eq(abort_exit_code(9), 9);
    ck_assert_int_eq(abort_exit_code(0), 1);
    ck_assert_int_eq(abort_exit_code(256), 1);
    ck_assert_int_eq(abort_exit_code(-1), 255);
}
END_TEST

UNIT_MAIN("verdict", ends_have_consequences, an_abort_is_never_success)

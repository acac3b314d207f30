/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The main function of a unit test: UNIT_MAIN("object", test_a, test_b).
 */
#ifndef XMPI_UNIT_H
#define XMPI_UNIT_H

#include <check.h>
#include <stddef.h>
#include <stdlib.h>

/* Check writes down with two system calls where each assertion is that holds, for tests that crash; some of ours have
 * millions.  Here only who fails says where; of a crash a debugger tells more. */
#define _mark_point(file, line) ((void)0)

static inline int unit_run(const char *name, const TTest *const *tests, size_t n)
{
    Suite *suite = suite_create(name);
    TCase *cases = tcase_create(name);
    tcase_set_timeout(cases, 240);
    for (size_t i = 0; i < n; i++)
        tcase_add_test(cases, tests[i]);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#define UNIT_MAIN(name, ...)                                                                   \
    int main(void)                                                                             \
    {                                                                                          \
        const TTest *const tests[] = { __VA_ARGS__ };                                          \
        return unit_run(name, tests, sizeof tests / sizeof tests[0]);                          \
    }

#endif

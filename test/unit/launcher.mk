LAUNCHER_LIBS = launcher/liblauncher.la $(CHECK_LIBS) -lm
check_PROGRAMS += test/unit/cli_test test/unit/map_test test/unit/lines_test \
    test/unit/cgroup_test test/unit/verdict_test test/unit/hosts_test
test_unit_cli_test_SOURCES = test/unit/cli_test.c
test_unit_cli_test_LDADD = $(LAUNCHER_LIBS)
test_unit_map_test_SOURCES = test/unit/map_test.c
test_unit_map_test_LDADD = $(LAUNCHER_LIBS)
test_unit_lines_test_SOURCES = test/unit/lines_test.c
test_unit_lines_test_LDADD = $(LAUNCHER_LIBS)
test_unit_cgroup_test_SOURCES = test/unit/cgroup_test.c
test_unit_cgroup_test_LDADD = $(LAUNCHER_LIBS)
test_unit_verdict_test_SOURCES = test/unit/verdict_test.c
test_unit_verdict_test_LDADD = $(LAUNCHER_LIBS)
test_unit_hosts_test_SOURCES = test/unit/hosts_test.c
test_unit_hosts_test_LDADD = $(LAUNCHER_LIBS)

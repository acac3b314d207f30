# the command xmpi
check_PROGRAMS += test/unit/report_test
test_unit_report_test_SOURCES = test/unit/report_test.c test/unit/unit.h tools/report.c
test_unit_report_test_LDADD = $(CHECK_LIBS)
check_PROGRAMS += test/unit/topology_test
test_unit_topology_test_SOURCES = test/unit/topology_test.c test/unit/unit.h tools/topology.c
test_unit_topology_test_LDADD = $(UNIT_LIBS)

# the command xmpi
check_PROGRAMS += test/unit/report_test
test_unit_report_test_SOURCES = test/unit/report_test.c test/unit/unit.h tools/report.c
test_unit_report_test_LDADD = $(CHECK_LIBS)

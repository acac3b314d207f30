# the command xmpi
check_PROGRAMS += test/unit/report_test
test_unit_report_test_SOURCES = test/unit/report_test.c test/unit/unit.h tools/report.c
test_unit_report_test_LDADD = $(CHECK_LIBS)
check_PROGRAMS += test/unit/topology_test
test_unit_topology_test_SOURCES = test/unit/topology_test.c test/unit/unit.h tools/topology.c
test_unit_topology_test_LDADD = $(UNIT_LIBS)
check_PROGRAMS += test/unit/plan_bytes_test
test_unit_plan_bytes_test_SOURCES = test/unit/plan_bytes_test.c test/unit/unit.h tools/plan_bytes.c tools/plan_bytes.h
test_unit_plan_bytes_test_LDADD = $(UNIT_LIBS)
check_PROGRAMS += test/unit/doctor_test
test_unit_doctor_test_SOURCES = test/unit/doctor_test.c test/unit/files.h test/unit/unit.h tools/finding.c tools/finding.h \
    tools/machine_facts.h tools/machine_judge.c tools/machine_look.c tools/probe.c tools/report.c launcher/cgroup.c
test_unit_doctor_test_CPPFLAGS = $(AM_CPPFLAGS)
test_unit_doctor_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += test/plan/plans_test test/plan/mutants_test test/unit/coll_test
test_plan_plans_test_SOURCES = test/plan/plans_test.c coll/check.c coll/check.h
test_plan_plans_test_LDADD = $(UNIT_LIBS)
test_plan_mutants_test_SOURCES = test/plan/mutants_test.c coll/check.c coll/check.h
test_plan_mutants_test_LDADD = $(UNIT_LIBS)
test_unit_coll_test_SOURCES = test/unit/coll_test.c test/unit/job.h test/unit/unit.h
test_unit_coll_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += test/plan/plans_test
test_plan_plans_test_SOURCES = test/plan/plans_test.c coll/check.c coll/check.h
test_plan_plans_test_LDADD = $(UNIT_LIBS)

# datatypes and statuses
check_PROGRAMS += test/unit/type_test
test_unit_type_test_SOURCES = test/unit/type_test.c test/unit/unit.h
test_unit_type_test_LDADD = $(UNIT_LIBS)

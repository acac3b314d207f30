check_PROGRAMS += test/unit/match_test
test_unit_match_test_SOURCES = test/unit/match_test.c
test_unit_match_test_LDADD = $(UNIT_LIBS)

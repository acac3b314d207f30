# groups, grids, info, attributes
check_PROGRAMS += test/unit/reorder_test
test_unit_reorder_test_SOURCES = test/unit/reorder_test.c test/unit/unit.h
test_unit_reorder_test_LDADD = $(UNIT_LIBS)
check_PROGRAMS += test/unit/group_test test/unit/dims_test test/unit/info_test test/unit/attr_test
test_unit_group_test_SOURCES = test/unit/group_test.c test/unit/unit.h
test_unit_group_test_LDADD = $(UNIT_LIBS)
test_unit_dims_test_SOURCES = test/unit/dims_test.c test/unit/unit.h
test_unit_dims_test_LDADD = $(UNIT_LIBS)
test_unit_info_test_SOURCES = test/unit/info_test.c test/unit/unit.h
test_unit_info_test_LDADD = $(UNIT_LIBS)
test_unit_attr_test_SOURCES = test/unit/attr_test.c test/unit/unit.h
test_unit_attr_test_LDADD = $(UNIT_LIBS)
check_PROGRAMS += test/unit/split_guess_test test/unit/split_sort_test
test_unit_split_guess_test_SOURCES = test/unit/split_guess_test.c test/unit/unit.h
test_unit_split_guess_test_LDADD = $(UNIT_LIBS)
test_unit_split_sort_test_SOURCES = test/unit/split_sort_test.c test/unit/unit.h
test_unit_split_sort_test_LDADD = $(UNIT_LIBS)

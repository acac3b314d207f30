# layouts, packing and reductions
check_PROGRAMS += test/unit/layout_test test/unit/pack_test test/unit/reduce_test \
	test/unit/reduce_apply_test
test_unit_layout_test_SOURCES = test/unit/layout_test.c test/unit/typemap.h test/unit/unit.h
test_unit_layout_test_LDADD = $(UNIT_LIBS)
test_unit_pack_test_SOURCES = test/unit/pack_test.c test/unit/typemap.h test/unit/unit.h
test_unit_pack_test_LDADD = $(UNIT_LIBS)
test_unit_reduce_test_SOURCES = test/unit/reduce_test.c test/unit/items.h test/unit/typemap.h test/unit/unit.h
test_unit_reduce_test_LDADD = $(UNIT_LIBS)
test_unit_reduce_apply_test_SOURCES = test/unit/reduce_apply_test.c test/unit/items.h test/unit/typemap.h \
	test/unit/unit.h
test_unit_reduce_apply_test_LDADD = $(UNIT_LIBS)

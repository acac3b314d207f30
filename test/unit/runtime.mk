check_PROGRAMS += test/unit/boot_test test/unit/bootseg_test test/unit/fail_test test/unit/hw_test \
    test/unit/lock_test test/unit/notice_test test/unit/object_test test/unit/param_test test/unit/progress_test \
    test/unit/ranks_test test/unit/record_test
test_unit_boot_test_SOURCES = test/unit/boot_test.c test/unit/unit.h
test_unit_boot_test_LDADD = $(UNIT_LIBS)
test_unit_bootseg_test_SOURCES = test/unit/bootseg_test.c
test_unit_bootseg_test_LDADD = $(UNIT_LIBS)
test_unit_fail_test_SOURCES = test/unit/fail_test.c test/unit/unit.h
test_unit_fail_test_LDADD = $(UNIT_LIBS)
test_unit_hw_test_SOURCES = test/unit/hw_test.c
test_unit_hw_test_LDADD = $(UNIT_LIBS)
test_unit_lock_test_SOURCES = test/unit/lock_test.c
test_unit_lock_test_LDADD = $(UNIT_LIBS)
test_unit_notice_test_SOURCES = test/unit/notice_test.c test/unit/unit.h
test_unit_notice_test_LDADD = $(UNIT_LIBS)
test_unit_object_test_SOURCES = test/unit/object_test.c
test_unit_object_test_LDADD = $(UNIT_LIBS)
test_unit_param_test_SOURCES = test/unit/param_test.c
test_unit_param_test_LDADD = $(UNIT_LIBS)
test_unit_progress_test_SOURCES = test/unit/progress_test.c
test_unit_progress_test_LDADD = $(UNIT_LIBS)
test_unit_ranks_test_SOURCES = test/unit/ranks_test.c
test_unit_ranks_test_LDADD = $(UNIT_LIBS)
test_unit_record_test_SOURCES = test/unit/record_test.c
test_unit_record_test_LDADD = $(UNIT_LIBS)
check_PROGRAMS += test/unit/hw_place_test
test_unit_hw_place_test_SOURCES = test/unit/hw_place_test.c test/unit/unit.h
test_unit_hw_place_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += test/unit/way_test test/unit/means_test test/unit/fill_test test/unit/claim_test test/unit/match_test test/unit/lane_test test/unit/quick_test test/unit/take_test \
    test/unit/take_any_test test/unit/sink_test test/unit/self_test test/unit/patience_test test/unit/pml_test test/unit/shelf_test test/unit/packets_test
test_unit_way_test_SOURCES = test/unit/way_test.c test/unit/unit.h
test_unit_way_test_LDADD = $(UNIT_LIBS)
test_unit_packets_test_SOURCES = test/unit/packets_test.c test/unit/unit.h
test_unit_packets_test_LDADD = $(UNIT_LIBS)
test_unit_shelf_test_SOURCES = test/unit/shelf_test.c test/unit/unit.h
test_unit_shelf_test_LDADD = $(UNIT_LIBS)
test_unit_means_test_SOURCES = test/unit/means_test.c test/unit/unit.h
test_unit_means_test_LDADD = $(UNIT_LIBS)
test_unit_fill_test_SOURCES = test/unit/fill_test.c test/unit/unit.h
test_unit_fill_test_LDADD = $(UNIT_LIBS)
test_unit_claim_test_SOURCES = test/unit/claim_test.c test/unit/unit.h
test_unit_claim_test_LDADD = $(UNIT_LIBS)
test_unit_match_test_SOURCES = test/unit/match_test.c test/unit/unit.h
test_unit_match_test_LDADD = $(UNIT_LIBS)
test_unit_lane_test_SOURCES = test/unit/lane_test.c test/unit/job.h test/unit/unit.h
test_unit_lane_test_LDADD = $(UNIT_LIBS)
test_unit_quick_test_SOURCES = test/unit/quick_test.c test/unit/job.h test/unit/unit.h
test_unit_quick_test_LDADD = $(UNIT_LIBS)
test_unit_take_test_SOURCES = test/unit/take_test.c test/unit/job.h test/unit/unit.h
test_unit_take_test_LDADD = $(UNIT_LIBS)
test_unit_take_any_test_SOURCES = test/unit/take_any_test.c test/unit/job.h test/unit/unit.h
test_unit_take_any_test_LDADD = $(UNIT_LIBS)
test_unit_sink_test_SOURCES = test/unit/sink_test.c test/unit/job.h test/unit/unit.h
test_unit_sink_test_LDADD = $(UNIT_LIBS)
test_unit_self_test_SOURCES = test/unit/self_test.c test/unit/job.h test/unit/unit.h
test_unit_self_test_LDADD = $(UNIT_LIBS)
test_unit_patience_test_SOURCES = test/unit/patience_test.c test/unit/job.h test/unit/unit.h
test_unit_patience_test_LDADD = $(UNIT_LIBS)
test_unit_pml_test_SOURCES = test/unit/pml_test.c test/unit/job.h test/unit/unit.h
test_unit_pml_test_LDADD = $(UNIT_LIBS)

# For tuning by hand; not built by default: make bench/pml_pingpong
EXTRA_PROGRAMS = bench/pml_pingpong
bench_pml_pingpong_SOURCES = bench/pml_pingpong.c test/unit/job.h
bench_pml_pingpong_LDADD = $(UNIT_LIBS)

if HAVE_LIBFABRIC
check_PROGRAMS += test/unit/select_test
test_unit_select_test_SOURCES = test/unit/select_test.c test/unit/unit.h
test_unit_select_test_LDADD = $(UNIT_LIBS)
endif

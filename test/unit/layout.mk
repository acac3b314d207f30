# layouts, packing and reductions
check_PROGRAMS += test/unit/layout_test test/unit/pack_test test/unit/reduce_test \
	test/unit/reduce_apply_test
test_unit_layout_test_SOURCES = test/unit/layout_test.c test/unit/typemap.h test/unit/unit.h
test_unit_layout_test_LDADD = $(UNIT_LIBS)
test_unit_pack_test_SOURCES = test/unit/pack_test.c test/unit/typemap.h test/unit/unit.h
test_unit_pack_test_LDADD = $(UNIT_LIBS)
# The driver of a device that tests pretend to have.
check_LTLIBRARIES = test/device/libcuda_fake.la
test_device_libcuda_fake_la_SOURCES = test/device/fake_cuda.c test/device/fake_memory.c test/device/fake_queue.c test/device/fake_queue.h test/device/fake_graph.c test/device/fake_ptx.c test/device/fake_ptx_run.c test/device/fake_ptx.h \
	test/device/fake.h test/device/fake_inside.h
test_device_libcuda_fake_la_CFLAGS = $(AM_CFLAGS) -ftls-model=global-dynamic
test_device_libcuda_fake_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
FAKE_DRIVER = -DFAKE_DRIVER='"$(abs_builddir)/test/device/.libs/libcuda_fake.so"'
check_PROGRAMS += test/unit/stage_test
test_unit_stage_test_SOURCES = test/unit/stage_test.c test/device/fake.h test/unit/unit.h
test_unit_stage_test_LDADD = $(UNIT_LIBS)
test_unit_stage_test_CPPFLAGS = $(AM_CPPFLAGS) $(FAKE_DRIVER)
check_PROGRAMS += test/unit/gpu_test test/unit/gpu_stream_test
test_unit_gpu_test_SOURCES = test/unit/gpu_test.c test/device/fake.h test/unit/unit.h
test_unit_gpu_test_LDADD = $(UNIT_LIBS)
test_unit_gpu_stream_test_SOURCES = test/unit/gpu_stream_test.c test/device/fake.h test/unit/unit.h
test_unit_gpu_stream_test_LDADD = $(UNIT_LIBS)
test_unit_gpu_stream_test_CPPFLAGS = $(AM_CPPFLAGS) $(FAKE_DRIVER)
test_unit_gpu_test_CPPFLAGS = $(AM_CPPFLAGS) $(FAKE_DRIVER)
test_unit_pack_test_CPPFLAGS = $(AM_CPPFLAGS) $(FAKE_DRIVER)
test_unit_reduce_test_SOURCES = test/unit/reduce_test.c test/unit/items.h test/unit/typemap.h test/unit/unit.h
test_unit_reduce_test_LDADD = $(UNIT_LIBS)
test_unit_reduce_apply_test_SOURCES = test/unit/reduce_apply_test.c test/unit/items.h test/unit/typemap.h \
	test/unit/unit.h
test_unit_reduce_apply_test_LDADD = $(UNIT_LIBS)
check_PROGRAMS += test/unit/folding_test
test_unit_folding_test_SOURCES = test/unit/folding_test.c test/unit/items.h test/unit/typemap.h test/unit/unit.h
test_unit_folding_test_LDADD = $(UNIT_LIBS)

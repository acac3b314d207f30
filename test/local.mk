# Tests.  `make check` runs the unit tests, the room, size and symbol checks, and the conformance and
# fault suites on a few rank counts; ./run-tests runs all of it on more, and with sanitizers.
check_SCRIPTS_LIST = test/conform.sh test/device.sh test/xpmem.sh test/streams.sh test/rooms.sh test/house.sh test/symbols.sh test/coll_forced.sh test/programs.sh test/abi.sh test/api.sh test/manual.sh test/info.sh test/doctor.sh test/own_plans.sh test/plans.sh
check_SCRIPTS_LIST += test/mapping.sh test/gpus.sh test/huge.sh test/watched.sh
# Those that look at how soon something happens, or want all CPUs, come last: where tests run side by side, these run
# alone (turn.sh).
check_SCRIPTS_LIST += test/threads.sh test/faults.sh test/network.sh test/hosts.sh test/slurm.sh test/ssh.sh test/store.sh
LOG_COMPILER = $(SHELL) $(srcdir)/test/turn.sh
CLEANFILES += test/turn.lock

if HAVE_CHECK
include test/unit/runtime.mk
include test/unit/layout.mk
include test/unit/pml.mk
include test/unit/coll.mk
include test/unit/launcher.mk
include test/unit/src.mk
include test/unit/src_objects.mk
include test/unit/src_types.mk
include test/unit/tools.mk
endif
TESTS += $(check_PROGRAMS) $(check_SCRIPTS_LIST)

AM_TESTS_ENVIRONMENT = \
    XMPI_TEST_CC='$(CC)' XMPI_TEST_CXX='$(CXX)' XMPI_TEST_SANITIZE='$(SANITIZE_CFLAGS)' \
    XDG_CONFIG_HOME=/nowhere CK_TIMEOUT_MULTIPLIER=8 PYTHON3='$(PYTHON3)' CLANG_FORMAT='$(CLANG_FORMAT)' ; \
    export XDG_CONFIG_HOME XMPI_TEST_CC XMPI_TEST_CXX XMPI_TEST_SANITIZE CK_TIMEOUT_MULTIPLIER PYTHON3 CLANG_FORMAT;

EXTRA_DIST += $(check_SCRIPTS_LIST) test/lib.sh test/turn.sh test/await.inc test/counted.h test/machines test/conform test/network test/device test/large test/fault test/api test/plan test/unit test/thread test/stream test/xpmem test/huge test/watched

print-units:
	@echo $(check_PROGRAMS)

# Random algorithms on up to 4096 ranks, for as long as one likes: `make nightly SECONDS=3600`.
SECONDS = 600
nightly: test/plan/plans_test
	test/plan/plans_test --random $(SECONDS)
.PHONY: print-units nightly

# Whole folders are distributed; what a build inside the source tree left in them is not.
dist-hook:
	find $(distdir)/test \( -name '*.o' -o -name '*.l[ao]' -o -name '.deps' -o -name '.libs' -o -name '*_test' \
	    -o -name '.dirstamp' -o -name '*.log' -o -name '*.trs' -o -name '__pycache__' \) \
	    -prune -exec rm -rf {} +

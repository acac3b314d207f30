# The command xmpi, the compiler wrappers, pkg-config file, and a directory of the usual names.
bin_PROGRAMS += tools/xmpi
tools_xmpi_SOURCES = tools/xmpi.c tools/explain.c tools/explain.h tools/grid.c tools/grid.h tools/info.c tools/info.h tools/limits.c tools/names.c tools/names.h tools/networks.c tools/probe.c tools/probe.h \
    tools/beside.c tools/beside.h tools/doctor.c tools/doctor.h tools/doctor_rank.c tools/doctor_visit.c \
    tools/finding.c tools/finding.h tools/machine_facts.h tools/machine_judge.c tools/machine_look.c \
    launcher/cgroup.c launcher/cgroup.h \
    tools/report.c tools/report.h runtime/standard.c runtime/standard.h tools/status.c tools/status.h tools/tune.c tools/tune.h tools/tune_rank.c tools/tune_device.c \
    tools/target.c tools/target.h
tools_xmpi_SOURCES += tools/plan.c tools/plan.h tools/plan_args.c tools/patience.c tools/plan_manual.c tools/machine.c tools/plan_show.c \
    tools/plan_cost.c tools/plan_draw.c tools/plan_goal.c tools/plan_bytes.c tools/plan_bytes.h tools/plan_import.c tools/draft.c tools/draft.h tools/msccl.c tools/msccl.h tools/volume.c tools/topology.c tools/topology.h
tools_xmpi_CPPFLAGS = $(AM_CPPFLAGS) -DBUILD_CC='"$(CC)"' -DBUILD_CFLAGS='"$(CFLAGS)"' \
    -DBUILD_SANITIZERS='"$(SANITIZE_CFLAGS)"' -DBUILD_PREFIX='"$(prefix)"'
tools_xmpi_LDADD = libxmpi_core.la -lm
nodist_man1_MANS += tools/xmpi.1
tools/xmpi.1: tools/xmpi
	$(AM_V_GEN)ASAN_OPTIONS=detect_leaks=0 tools/xmpi --help=man > $@.tmp && mv $@.tmp $@
nodist_man1_MANS += tools/xmpi-plan.1
tools/xmpi-plan.1: tools/xmpi
	$(AM_V_GEN)ASAN_OPTIONS=detect_leaks=0 tools/xmpi plan --help=man > $@.tmp && mv $@.tmp $@
CLEANFILES += tools/xmpi.1 tools/xmpi-plan.1
EXTRA_DIST += docs/allreduce-circulant.svg docs/allreduce-ring.svg docs/bcast-binomial.svg \
    docs/bcast-chain.svg

# The drawings in docs, by the plans of today; test/plans.sh compares.
pictures: tools/xmpi
	tools/xmpi plan draw allreduce:circulant -n 8 -o $(srcdir)/docs/allreduce-circulant.svg
	tools/xmpi plan draw allreduce:ring -n 8 --graph -o $(srcdir)/docs/allreduce-ring.svg
	tools/xmpi plan draw bcast:binomial -n 8 --graph -o $(srcdir)/docs/bcast-binomial.svg
	tools/xmpi plan draw bcast:chain -n 6 --pieces 4 -o $(srcdir)/docs/bcast-chain.svg
.PHONY: pictures

bin_SCRIPTS += tools/xmpicc tools/xmpicxx
pkgconfigdir = $(libdir)/pkgconfig
nodist_pkgconfig_DATA = tools/xmpi.pc

fill = $(SED) -e 's|@prefix@|$(prefix)|g' -e 's|@exec_prefix@|$(exec_prefix)|g' \
    -e 's|@libdir@|$(libdir)|g' -e 's|@includedir@|$(includedir)|g' \
    -e 's|@version@|$(PACKAGE_VERSION)|g'

tools/xmpicc: tools/xmpicc.in Makefile
	$(AM_V_GEN)$(MKDIR_P) tools && $(fill) -e 's|@name@|xmpicc|g' \
	    -e 's|@compiler_default@|gcc|g' -e 's|@variable@|XMPI_CC|g' \
	    $(srcdir)/tools/xmpicc.in > $@.tmp && chmod +x $@.tmp && mv $@.tmp $@

tools/xmpicxx: tools/xmpicc.in Makefile
	$(AM_V_GEN)$(MKDIR_P) tools && $(fill) -e 's|@name@|xmpicxx|g' \
	    -e 's|@compiler_default@|g++|g' -e 's|@variable@|XMPI_CXX|g' \
	    $(srcdir)/tools/xmpicc.in > $@.tmp && chmod +x $@.tmp && mv $@.tmp $@

tools/xmpi.pc: tools/xmpi.pc.in Makefile
	$(AM_V_GEN)$(MKDIR_P) tools && $(fill) $(srcdir)/tools/xmpi.pc.in > $@

CLEANFILES += tools/xmpicc tools/xmpicxx tools/xmpi.pc
EXTRA_DIST += tools/xmpicc.in tools/xmpi.pc.in tools/measure.py

# Build systems that insist on mpicc find it in lib/xmpi/bin.
namesdir = $(libdir)/xmpi/bin
install-data-hook:
	$(MKDIR_P) $(DESTDIR)$(mandir)/man3
	$(INSTALL_DATA) $(srcdir)/src/generated/man3/*.3 $(DESTDIR)$(mandir)/man3/
	$(MKDIR_P) $(DESTDIR)$(namesdir)
	cd $(DESTDIR)$(namesdir) && for pair in mpicc:xmpicc mpicxx:xmpicxx mpic++:xmpicxx \
	    mpiCC:xmpicxx mpirun:xmpirun mpiexec:xmpirun; do \
	    $(LN_S) -f $(bindir)/$${pair#*:} $${pair%:*} || exit 1; done

measure:
	@$(PYTHON3) $(srcdir)/tools/measure.py $(srcdir)
.PHONY: measure

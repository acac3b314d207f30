# src/: the MPI standard as C functions.  Entry points, mpi_functions.h and the man pages follow
# from the chapter headers in src/api; tarballs carry them, so that users need no Python.
api_headers = \
    src/api/abi.h src/api/collective.h src/api/comm.h src/api/datatype.h \
    src/api/deprecated.h src/api/environment.h src/api/external.h src/api/fusion.h src/api/info.h \
    src/api/io.h src/api/kinds.h src/api/language.h src/api/p2p.h src/api/partitioned.h \
    src/api/process.h src/api/rma.h src/api/stream.h src/api/tool.h src/api/topology.h

api_texts = src/api/arguments.txt src/api/errors.txt src/api/manual.txt

api_entries = \
    src/generated/entries_abi.c src/generated/entries_collective.c \
    src/generated/entries_comm.c src/generated/entries_datatype.c \
    src/generated/entries_deprecated.c src/generated/entries_environment.c \
    src/generated/entries_external.c src/generated/entries_fusion.c \
    src/generated/entries_info.c \
    src/generated/entries_io.c src/generated/entries_language.c \
    src/generated/entries_p2p.c src/generated/entries_partitioned.c \
    src/generated/entries_process.c src/generated/entries_rma.c \
    src/generated/entries_stream.c src/generated/entries_tool.c \
    src/generated/entries_topology.c

libxmpi_core_la_SOURCES += $(api_headers) $(api_entries)

# ---- the face ----
libxmpi_core_la_SOURCES += \
    src/abi.c \
    src/checks.c src/checks.h \
    src/errhan.c src/errhan.h src/errhan_initial.c \
    src/error.c src/error.h \
    src/facade.c src/facade.h \
    src/handle.c src/handle.h \
    src/manual.c \
    src/tool.c src/tool.h src/tool_cvar.c src/tool_cvar.h src/tool_cvar_comm.c src/tool_event.c src/tool_pvar.c \
    src/tool_pvar.h src/tool_pvar_table.c

# ---- communicators and what surrounds them ----
libxmpi_core_la_SOURCES += \
    src/agree.c src/agree.h \
    src/attr.c src/attr.h \
    src/cart.c \
    src/comm.c src/comm.h \
    src/circle_tree.c src/circle_tree.h \
    src/context.c src/context.h \
    src/create.c \
    src/deprecated.c \
    src/dims.c src/dims.h \
    src/dist_edges.c \
    src/dist_graph.c \
    src/dup.c \
    src/environment.c \
    src/graph.c \
    src/group.c src/group.h \
    src/idup.c \
    src/info.c src/info.h \
    src/init.c \
    src/inter.c src/inter.h \
    src/left.c \
    src/library.c src/library.h \
    src/memory_kinds.c \
    src/psets.c src/psets.h \
    src/remap.c src/remap.h src/reorder.c src/reorder.h src/seat.c src/seat.h \
    src/session.c src/session.h \
    src/split.c src/split.h src/split_guess.c src/split_guess.h \
    src/split_voters.c src/split_voters.h src/split_sort.c src/split_sort.h src/split_type.c \
    src/topo.c src/topo.h \
    src/world.c

# ---- datatypes, messages, collectives ----
libxmpi_core_la_SOURCES += \
    src/again.c src/again.h src/asked.c src/asked.h src/asked_check.c src/asked_check.h \
    src/bsend.c src/bsend_pool.c src/bsend_pool.h \
    src/bucket.c src/bucket.h src/bucket_request.c src/bucket_run.c \
    src/coll.c src/coll_init.c src/coll_start.c \
    src/enqueue.c src/enqueue_message.c src/enqueue_request.c \
    src/exchange.c \
    src/external32.c \
    src/fuse.c src/fuse.h \
    src/greq.c src/greq.h \
    src/neighbor.c \
    src/op.c src/op.h \
    src/outside.h \
    src/p2p.c \
    src/pack.c src/pack.h \
    src/part.c src/part.h src/part_messages.c \
    src/probe.c \
    src/quick.h src/quick_p2p.h src/quick_shared.c src/recall.h \
    src/recipe.c src/recipe.h \
    src/request.c src/request.h \
    src/solo.c src/solo.h \
    src/status.c src/status.h \
    src/mark.c src/stream.c src/stream.h src/task.c src/task.h src/task_stage.c src/task_direct.c src/task_trace.c \
    src/type.c src/type.h src/type_array.c src/type_make.c src/type_predefined.c \
    src/type_unnamed.c src/typedesc.c \
    src/wait.c

# ---- what is generated: one stamp, made before everything else; the generator leaves files alone
# that would not change ----
api_stamp = $(srcdir)/src/generated/stamp
BUILT_SOURCES += $(api_stamp)
EXTRA_DIST    += src/hot.ld src/gen_api.py src/gen_man.py $(api_texts) src/generated/stamp src/generated/man3

$(api_stamp): $(api_headers) $(api_texts) src/gen_api.py src/gen_man.py
	@test "$(PYTHON3)" != no || { echo "src/api changed: python3 is needed"; exit 1; }
	$(AM_V_GEN)$(PYTHON3) $(srcdir)/src/gen_api.py --out $(srcdir)/src/generated && \
	    $(PYTHON3) $(srcdir)/src/gen_man.py $(srcdir)/src/generated/man3 && touch $@

.PHONY: unwritten
unwritten:
	$(PYTHON3) $(srcdir)/src/gen_api.py --missing

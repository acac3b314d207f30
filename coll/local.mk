# coll/: collectives, written down as plans and performed.
libxmpi_core_la_SOURCES += \
    coll/plan.c coll/plan.h coll/shape.c coll/roll.c coll/roll.h coll/window.c coll/window.h coll/talks.c coll/talks.h coll/mirror.c coll/text.c \
    coll/algorithms.h coll/circulant.c \
    coll/barrier.c coll/bcast.c coll/reduce.c coll/allreduce.c coll/reduce_scatter.c \
    coll/scan.c coll/gather.c coll/scatter.c coll/allgather.c coll/alltoall.c coll/neighbor.c coll/neighbours.h coll/inter.c \
    coll/knomial.c coll/double_tree.c coll/dual_root.c coll/multiplying.c coll/strided.c coll/bine.c coll/torus.c \
    coll/mirrored.c coll/levels.c coll/leaders.c \
    coll/cast.c coll/cast.h coll/role.c coll/twice.c coll/ends.c coll/ends.h coll/effort.c coll/effort.h coll/wraps.c coll/wraps.h coll/sim.c coll/sim.h coll/steady.c coll/steady.h coll/march.c coll/march.h coll/grow.c coll/grow.h coll/grow_curve.c coll/grow_curve.h \
    coll/price.c coll/price.h coll/count.c coll/count.h coll/rounds.c \
    coll/rules.c coll/rules.h coll/forced.c coll/forced.h coll/choose.c coll/choose.h \
    coll/tuning.c coll/tuning_read.c coll/tuning.h coll/tuning_device.h coll/explain.c coll/explain_wanted.c coll/explain.h coll/model.c coll/model.h \
    coll/own.c coll/own.h coll/script.c coll/script.h coll/script_steps.c coll/script_words.c coll/script_words.h \
    coll/check.c coll/check.h coll/check_examine.c coll/check_perform.c coll/check_stage.h coll/check_law.c coll/check_hazards.c coll/check_barrier.c coll/check_law.h \
    coll/cache.c coll/cache.h coll/bind.c coll/bind_span.c coll/bind_bytes.c coll/bind_stage.c coll/bind.h coll/scratch.c coll/scratch.h \
    coll/run.c coll/run.h coll/run_inline.c coll/sized.c \
    coll/tell.c coll/tell.h coll/served.c coll/mismatch.c coll/last.c coll/stray.c coll/call_arrays.c coll/later.c coll/tiny.c coll/tiny.h coll/tiny_slot.c coll/tiny_parts.h coll/tiny_fold.c coll/tiny_listed.c coll/tiny_letters.c coll/tiny_slot.h coll/tiny_block.c \
    coll/repeat.c coll/replay.c coll/repeat.h coll/replay.h coll/rival.c coll/rival.h coll/attach.c coll/attach.h coll/attach_blocks.c coll/attach_fold.c coll/attach_later.c coll/attach_later.h coll/attach_scan.c coll/attach_slice.c coll/attach_slice.h coll/attach_pull.c coll/places.c coll/places.h coll/team.c coll/coll.c coll/coll_request.c coll/coll.h coll/call.h

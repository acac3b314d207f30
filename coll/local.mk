# The plan and its performance, bottom up.
libxmpi_core_la_SOURCES += \
    coll/plan.c coll/plan.h coll/shape.c coll/text.c \
    coll/algorithms.h coll/circulant.c coll/circulant.h \
    coll/barrier.c coll/bcast.c coll/reduce.c coll/allreduce.c coll/reduce_scatter.c \
    coll/scan.c coll/gather.c coll/scatter.c coll/allgather.c coll/alltoall.c coll/inter.c \
    coll/rules.c coll/rules.h coll/bind.h coll/call.h coll/coll.h

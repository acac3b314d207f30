# pml/: messages between processes.
libxmpi_core_la_SOURCES += \
    pml/arrived.c pml/arrived.h pml/shelf.c pml/shelf.h \
    pml/away.c \
    pml/broken.c pml/in_vain.c \
    pml/cancel.c \
    pml/channel.c \
    pml/claim.h \
    pml/device.c pml/device.h \
    pml/doom.c \
    pml/engine.c \
    pml/failure.c pml/failure.h \
    pml/link.h \
    pml/match.c pml/match.h \
    pml/orphan.c \
    pml/peer.c pml/peer.h \
    pml/pml.h \
    pml/patience.c \
    pml/probe.c \
    pml/proto.c pml/proto.h \
    pml/pull.c pml/pull.h \
    pml/recv.c pml/recv_now.c pml/recv_misfit.c pml/recv.h \
    pml/request.c pml/request.h \
    pml/quick.c \
    pml/self.c \
    pml/send.c pml/send.h \
    pml/sink.c \
    pml/shm/area.h \
    pml/shm/chunk.c \
    pml/shm/fill.c pml/shm/fill.h \
    pml/shm/cma.c \
    pml/shm/lane.h pml/shm/lane_in.h \
    pml/shm/link.c \
    pml/shm/put.c pml/shm/put.h \
    pml/shm/quick.c \
    pml/shm/reach.c \
    pml/shm/solo.c \
    pml/shm/take.c \
    pml/solo.c pml/solo.h pml/solo_all.c pml/solo_engine.h pml/solo_wait.c \
    pml/stage.c pml/stage.h \
    pml/survey.h \
    pml/tell.c pml/tell_parts.c \
    pml/trip.c pml/trip.h \
    pml/toll.c pml/toll.h \
    pml/way.c pml/way.h \
    pml/wire.h

# The network link, or a file that says it was not built.
if HAVE_LIBFABRIC
AM_CPPFLAGS += $(FABRIC_CFLAGS)
libxmpi_core_la_SOURCES += \
    pml/ofi/alive.c \
    pml/ofi/card.c pml/ofi/card.h \
    pml/ofi/cq.c \
    pml/ofi/fabric.h \
    pml/ofi/fetch.c \
    pml/ofi/frame.c \
    pml/ofi/hmem.c \
    pml/ofi/link.c \
    pml/ofi/load.c \
    pml/ofi/nic.c pml/ofi/nic.h \
    pml/ofi/select.c pml/ofi/select.h \
    pml/ofi/survey.c \
    pml/ofi/trunk.c pml/ofi/trunk.h \
    pml/ofi/watch.c
else
libxmpi_core_la_SOURCES += pml/ofi/absent.c
endif

# runtime/: what any system program would need.  Layouts and kernels are in layout.mk.
AM_CPPFLAGS += $(PMIX_CFLAGS)
libxmpi_core_la_SOURCES += \
    runtime/amount.c runtime/amount.h \
    runtime/apart.c runtime/apart.h \
    runtime/assist.c runtime/assist.h \
    runtime/bias.c runtime/bias.h \
    runtime/boot.c runtime/boot.h runtime/boot_way.h \
    runtime/boot_nodes.c runtime/boot_make.c runtime/boot_one.c runtime/boot_pmix.c runtime/boot_shm.c \
    runtime/boot_store.c runtime/store.c runtime/store.h runtime/store_server.c \
    runtime/bootseg.c runtime/bootseg.h \
    runtime/clock.h \
    runtime/death.c runtime/death.h \
    runtime/doorbell.c \
    runtime/fail.c runtime/fail.h \
    runtime/follow.c runtime/follow.h \
    runtime/guard.c runtime/guard.h \
    runtime/huge.c runtime/huge.h runtime/huge_gap.c runtime/huge_gap.h runtime/huge_heap.c runtime/huge_heap.h \
    runtime/hw.c runtime/hw.h runtime/hw_machine.c runtime/hw_place.c \
    runtime/keeplock.c runtime/keeplock.h \
    runtime/lock.c runtime/lock.h \
    runtime/log.c runtime/log.h \
    runtime/mapped.c runtime/mapped.h \
    runtime/means.c runtime/means.h \
    runtime/notice.c runtime/notice.h \
    runtime/object.c runtime/object.h \
    runtime/json.h runtime/oncpu.h \
    runtime/partner.c runtime/partner.h \
    runtime/pmix_sets.c runtime/pmix_sets.h \
    runtime/param.c runtime/param.h runtime/param_text.c runtime/param_text.h runtime/params.def runtime/typo.c runtime/typo.h \
    runtime/policy.c runtime/policy.h \
    runtime/printable.c runtime/printable.h \
    runtime/polling.c runtime/polling.h \
    runtime/progress.c runtime/progress.h runtime/wait.c runtime/wait.h runtime/helper.c \
    runtime/psets.c runtime/psets.h \
    runtime/ranks.c runtime/ranks.h runtime/scarce.h \
    runtime/reading.c runtime/reading.h \
    runtime/record.c runtime/record.h runtime/record_read.c \
    runtime/seat.c runtime/seat.h \
    runtime/symbols.h runtime/system_text.h runtime/text_hash.h \
    runtime/trace.c runtime/trace.h \
    runtime/xpmem.c runtime/xpmem.h

# layouts, packing and reductions
libxmpi_core_la_SOURCES += \
	runtime/layout.c runtime/layout.h runtime/layout_inside.h runtime/layout_basic.c \
	runtime/layout_items.c runtime/layout_scale.c runtime/layout_runs.c \
	runtime/gpu.h runtime/gpu_choice.c runtime/gpu_move.c runtime/gpu_cuda.c runtime/gpu_cuda.h \
	runtime/gpu_stream.c runtime/gpu_stream.h runtime/cuda_abi.h \
	runtime/gpu_share.c runtime/gpu_share.h runtime/gpu_turns.c runtime/gpu_turns.h \
	runtime/gpu_reduce.c runtime/gpu_reduce.h runtime/gpu_moment.c runtime/gpu_moment.h runtime/gpu_room.c runtime/gpu_stall.c runtime/gpu_capture.c \
	runtime/gpu_kernels.c runtime/gpu_kernels.h runtime/reduce_device.inc \
	runtime/gpu_form.c runtime/gpu_form.h runtime/gpu_pack.c runtime/gpu_pack.h \
	runtime/reduce_device.h \
	runtime/layout_list.c runtime/layout_blocks.c runtime/layout_members.c runtime/copy.c runtime/copy_whole.c runtime/copy.h runtime/pack.c \
	runtime/reduce.c runtime/reduce.h runtime/reduce_kernels.h runtime/reduce_arith.c \
	runtime/reduce_half.c runtime/reduce_half.h runtime/reduce_mean.c runtime/reduce_rare.c runtime/folding.c runtime/folding.h runtime/wide.h \
	runtime/reduce_logic.c runtime/reduce_loc.c

# For maintainers whose clang makes code for GPUs: the text of the kernels, from their sources.
EXTRA_DIST += runtime/reduce_device.c runtime/pack_device.c tools/kernels.sh
kernels:
	SOURCES=$(srcdir) CLANG=$(CLANG) sh $(srcdir)/tools/kernels.sh > kernels.tmp
	mv kernels.tmp $(srcdir)/runtime/reduce_device.inc
.PHONY: kernels

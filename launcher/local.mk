# The launcher.  All but main is a library of its own, so that unit tests can link it.  The
# files of runtime are the form of the boot segment, how to wake who sleeps in it, process sets, what
# reading a neighbour's memory costs, what ranks publish of their waits, the standard streams, what is
# shown of a text, and what a mistyped word may have meant.
bin_PROGRAMS += launcher/xmpirun launcher/xmpid
noinst_LTLIBRARIES += launcher/liblauncher.la

launcher_liblauncher_la_SOURCES = \
    launcher/appfile.c launcher/apply.c launcher/apply.h launcher/apply_place.c launcher/cgroup.c launcher/cgroup.h launcher/cli.c launcher/cli.h \
    launcher/cpuset.c launcher/cpuset.h launcher/environment.c launcher/environment.h \
    launcher/blame.c launcher/blame_holder.c launcher/graph.c launcher/graph.h launcher/explain.c launcher/explain.h launcher/peek.c \
    launcher/place.c launcher/status.c launcher/status.h launcher/trace.c launcher/trace.h \
    launcher/foreign.c launcher/foreign.h launcher/elf.c launcher/elf.h launcher/kvs.c launcher/kvs.h launcher/scratch.c launcher/scratch.h \
    launcher/bare.h launcher/calls.h launcher/feed.c launcher/feed.h launcher/guard.c launcher/guard.h launcher/help.c \
    launcher/batch.c launcher/batch.h launcher/hostfile.c launcher/gather.c launcher/gather.h launcher/hosts.c launcher/hosts.h launcher/iof.c launcher/iof.h launcher/job.c \
    launcher/job.h launcher/lines.c launcher/lines.h launcher/loop.c launcher/loop.h \
    launcher/gpus.c launcher/gpus.h launcher/map.c launcher/map_gpu.c launcher/map.h launcher/master.c launcher/master.h launcher/options.def launcher/out.c launcher/out.h \
    launcher/pattern.c launcher/pattern.h launcher/picture.c launcher/plan.c launcher/plan.h launcher/plan_fit.c launcher/proc.c launcher/pulse.c launcher/pulse.h \
    launcher/pmix_clients.c launcher/pmix_clients.h launcher/pmix_far.c launcher/pmix_far_ends.c launcher/pmix_far.h launcher/pmix_meet.c launcher/pmix_meet.h launcher/pmix_job.c launcher/pmix_job.h launcher/pmix_lib.c launcher/pmix_lib.h \
    launcher/pmix_names.c launcher/pmix_names.h launcher/pmix_sets.c launcher/pmix_sets.h launcher/pmix_start.c launcher/pmix_start.h launcher/pmix_tools.c launcher/pmix_tools.h \
    launcher/pmix_spawn.c launcher/pmix_spawn_far.c launcher/pmix_spawn.h launcher/pmix_upcall.c launcher/pmix_upcall.h launcher/pmix_wish.c launcher/pmix_wish.h launcher/pmixsrv.c launcher/pmixsrv.h \
    launcher/kin.c launcher/kin.h launcher/letters.c launcher/letters.h launcher/mail.c launcher/mail.h \
    launcher/pmix_names_far.c launcher/pmix_question.c launcher/pmix_question.h launcher/pmix_union.c launcher/pmix_union.h \
    launcher/offspring.c launcher/offspring.h launcher/relay.c launcher/relay.h \
    launcher/spawned.c launcher/spawned.h launcher/spawned_link.c launcher/wish.c launcher/wish.h \
    launcher/proc.h launcher/psets.c launcher/psets.h launcher/ranges.c launcher/ranges.h launcher/program.c launcher/program.h launcher/reap.c launcher/services.c \
    launcher/services.h launcher/signals.c launcher/spawn.c launcher/topo.c launcher/topo.h \
    launcher/verdict.c launcher/verdict.h \
    launcher/agent.c launcher/agent.h launcher/ask.c launcher/cards.c launcher/cards.h launcher/dial.c launcher/dial.h \
    launcher/doorstep.c launcher/doorstep.h launcher/frames.h launcher/inquiry.c launcher/inquiry.h launcher/input.c launcher/input.h \
    launcher/others.h launcher/post.c launcher/post.h launcher/pack.c launcher/pack.h launcher/remote.c launcher/remote.h \
    launcher/remote_ask.c launcher/remote_run.c \
    launcher/remote_start.c launcher/share.c launcher/share.h launcher/shape.c launcher/show.c launcher/show.h launcher/stop.c launcher/siphash.c launcher/siphash.h launcher/uplink.c launcher/uplink.h launcher/uplink_job.c \
    launcher/survey.c launcher/survey.h launcher/trace_far.c launcher/trace_far.h launcher/trace_line.c launcher/trace_line.h launcher/tree.c launcher/tree.h launcher/wire.c launcher/wire.h \
    runtime/bootseg.c runtime/doorbell.c runtime/printable.c runtime/psets.c runtime/reading.c runtime/record_read.c runtime/standard.c runtime/typo.c
launcher_liblauncher_la_LIBADD = -ldl

launcher_xmpirun_SOURCES = launcher/main.c
launcher_xmpirun_LDADD   = launcher/liblauncher.la

launcher_xmpid_SOURCES = launcher/xmpid.c
launcher_xmpid_LDADD   = launcher/liblauncher.la

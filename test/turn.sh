#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What `make check` starts tests by: with -j2 they run side by side, but for scripts that look at how soon something
# happens, or with many threads that all want a CPU; these have the machine to themselves.
# usage: turn.sh TEST
case ${1##*/} in
threads.sh | faults.sh | network.sh | hosts.sh | slurm.sh | ssh.sh | store.sh) turn=--exclusive ;;
*) turn=--shared ;;
esac
flock --help 2>&1 | grep -qe --close || exec "$@" # there is none, or not that of util-linux
exec flock --close $turn test/turn.lock "$@"

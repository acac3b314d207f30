#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Faults and launching: the scripts of test/fault, each printing its own ok and not ok lines.
. "${srcdir:-.}/test/lib.sh"

scripts="$top"/test/fault/*.sh
[ -z "${DISTCHECK_SHORT:-}" ] || scripts="$top"/test/fault/launch_*.sh
for script in $scripts; do
    if ! XMPI_SCRATCH=$scratch top=$top timeout -k 5 "${LIMIT:-300}" sh "$script" 2>&1; then
        failures=$((failures + 1))
    fi
done
finish

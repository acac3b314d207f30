/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A tree of files that pretends to be another: /proc, /sys, /dev.
 */
#ifndef XMPI_TEST_FILES_H
#define XMPI_TEST_FILES_H

#include "test/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static char root[64]; /* its folder, made by the test */

/* Write a text to the file root/path, making the folders above it. */
static void put(const char *path, const char *text)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    for (char *slash = strchr(whole + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(whole, 0777);
        *slash = '/';
    }
    FILE *file = fopen(whole, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/guard.h"
#include "launcher/loop.h"
#include "launcher/scratch.h"

#include "test/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

static void make_root(void)
{
    strcpy(root, "/tmp/xmpi-scratch-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static bool is_there(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

static void make_file(const char *format, int i)
{
    char path[512];
    int n = snprintf(path, sizeof path, "%s/", root);
    snprintf(path + n, sizeof path - (size_t)n, format, i);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void make_directory(const char *format, int i)
{
    char path[512];
    int n = snprintf(path, sizeof path, "%s/", root);
    snprintf(path + n, sizeof path - (size_t)n, format, i);
    ck_assert_int_eq(mkdir(path, 0700), 0);
}

START_TEST(a_tree_is_removed)
{
    make_root();
    for (int i = 0; i < 500; i++) /* more than one read of the directory */
        make_file("a-file-with-a-long-name-%d", i);
    for (int i = 0; i < 20; i++) {
        make_directory("d%d", i);
        make_directory("d%d/inner", i);
        make_file("d%d/inner/file", i);
        make_file("d%d/.hidden", i);
    }
    scratch_remove_tree(root);
    ck_assert(!is_there(root));
    scratch_remove_tree(root); /* harmless */
}
END_TEST

START_TEST(links_are_not_followed)
{
    make_root();
    char outside[64], path[128], link[128];
    strcpy(outside, "/tmp/xmpi-outside-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(outside));
    snprintf(path, sizeof path, "%s/precious", outside);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    snprintf(link, sizeof link, "%s/link", root);
    ck_assert_int_eq(symlink(outside, link), 0);
    scratch_remove_tree(root);
    ck_assert(!is_there(root));
    ck_assert(is_there(path));
    scratch_remove_tree(outside);
}
END_TEST

START_TEST(the_directory_of_a_job_is_private)
{
    make_root();
    setenv("XDG_RUNTIME_DIR", root, 1);
    ck_assert_int_eq(loop_open(), 0);
    ck_assert_int_eq(guard_open("XMPI_TEST_MARK=none:", 1), 0);
    const char *path = scratch_make("1-abc", false);
    ck_assert_ptr_nonnull(path);
    ck_assert_ptr_eq(strstr(path, root), path);
    struct stat status;
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0700);
    make_file("xmpi-1-abc/file%d", 1);
    scratch_remove();
    ck_assert_int_eq(rmdir(root), 0); /* it was empty */
    guard_close();
}
END_TEST

UNIT_MAIN("scratch", a_tree_is_removed, links_are_not_followed,
          the_directory_of_a_job_is_private)

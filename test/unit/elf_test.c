/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ELF files are made here, byte by byte, so that each property can be switched on by itself.
 */
#define _GNU_SOURCE 1 /* memmem */
#include "launcher/elf.h"

#include "test/unit/unit.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct image { /* one PT_LOAD over the whole file */
    Elf64_Ehdr header;
    Elf64_Phdr segments[2];
    Elf64_Dyn dynamic[8];
    char names[256];
    Elf64_Shdr sections[2];
    char section_names[32];
};

static struct image image;
static size_t names_used;

static void fresh(void)
{
    memset(&image, 0, sizeof image);
    Elf64_Ehdr *h = &image.header;
    memcpy(h->e_ident, ELFMAG, SELFMAG);
    h->e_ident[EI_CLASS] = ELFCLASS64;
    h->e_ident[EI_DATA] = ELFDATA2LSB;
    h->e_phoff = offsetof(struct image, segments);
    h->e_phentsize = sizeof image.segments[0];
    h->e_phnum = 2;
    h->e_shoff = offsetof(struct image, sections);
    h->e_shentsize = sizeof image.sections[0];
    h->e_shnum = 2;
    image.segments[0] =
        (Elf64_Phdr){ .p_type = PT_LOAD, .p_vaddr = 0x10000, .p_filesz = sizeof image };
    image.segments[1] = (Elf64_Phdr){ .p_type = PT_DYNAMIC,
                                      .p_offset = offsetof(struct image, dynamic),
                                      .p_filesz = sizeof image.dynamic };
    image.dynamic[0].d_tag = DT_STRTAB;
    image.dynamic[0].d_un.d_ptr = 0x10000 + offsetof(struct image, names);
    image.dynamic[1].d_tag = DT_STRSZ;
    image.dynamic[1].d_un.d_val = sizeof image.names;
    image.sections[0].sh_offset = offsetof(struct image, section_names);
    names_used = 1;
}

static size_t add_name(const char *name)
{
    size_t at = names_used;
    strcpy(image.names + at, name);
    names_used += strlen(name) + 1;
    return at;
}

static void add_library(const char *name)
{
    Elf64_Dyn *entry = image.dynamic;
    while (entry->d_tag != DT_NULL)
        entry++;
    entry->d_tag = DT_NEEDED;
    entry->d_un.d_val = add_name(name);
}

static bool answer_for(const void *bytes, size_t size)
{
    char path[] = "/tmp/xmpi-elf-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
    close(fd);
    bool answer = elf_may_use_pmix(path);
    unlink(path);
    return answer;
}

static bool answer(void)
{
    return answer_for(&image, sizeof image);
}

START_TEST(what_is_no_elf_file_may_be_anything)
{
    ck_assert(answer_for("#!/bin/sh\nexec ./a.out\n", 23));
    ck_assert(answer_for("", 0));
    ck_assert(elf_may_use_pmix("/no/such/file"));
    ck_assert(elf_may_use_pmix("/"));
}
END_TEST

START_TEST(libraries_decide)
{
    static const struct {
        const char *library;
        bool may;
    } rows[] = {
        { "libmpi_abi.so.1", false }, { "libxmpi.so", false },     { "libpmix.so.2", true },
        { "libm.so.6", false },       { "libpython3.so.1", true }, { "libcustom.so", true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fresh();
        add_library("libc.so.6");
        add_library(rows[i].library);
        ck_assert_msg(answer() == rows[i].may, "%s", rows[i].library);
    }
    fresh();
    add_library("libmpi_abi.so.1");
    add_library("libpmix.so.2");
    ck_assert(answer());
}
END_TEST

START_TEST(so_do_functions)
{
    static const char *const running[] = { "dlopen", "execvp", "posix_spawn", "system" };
    fresh();
    add_library("libc.so.6");
    add_name("printf");
    add_name("xdlopen"); /* only whole names count */
    add_name("execvpx");
    ck_assert(!answer());
    for (size_t i = 0; i < sizeof running / sizeof running[0]; i++) {
        fresh();
        add_library("libc.so.6");
        add_name("printf");
        add_name(running[i]);
        ck_assert_msg(answer(), "%s", running[i]);
    }
}
END_TEST

START_TEST(statically_linked_xmpi_is_known_by_its_section)
{
    fresh();
    image.header.e_phnum = 0;
    ck_assert(answer()); /* no libraries: nothing is known */
    strcpy(image.section_names + 1, "xmpi-build");
    image.sections[1].sh_name = 1;
    ck_assert(!answer());
}
END_TEST

/* Whatever the bytes are, there is an answer and no crash. */
START_TEST(damaged_files_are_survived)
{
    unsigned random = 12345;
    for (int round = 0; round < 2000; round++) {
        fresh();
        add_library("libc.so.6");
        strcpy(image.section_names + 1, "xmpi-build");
        image.sections[1].sh_name = 1;
        for (int i = 0; i < 4; i++) {
            random = random * 1664525u + 1013904223u;
            ((unsigned char *)&image)[16 + (random >> 8) % (sizeof image - 16)] =
                (unsigned char)(random >> 24);
        }
        random = random * 1664525u + 1013904223u;
        (void)answer_for(&image, round % 2 ? sizeof image : (random >> 8) % sizeof image);
    }
}
END_TEST

UNIT_MAIN("elf", what_is_no_elf_file_may_be_anything, libraries_decide, so_do_functions,
          statically_linked_xmpi_is_known_by_its_section, damaged_files_are_survived)

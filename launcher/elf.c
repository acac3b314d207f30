/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading the dynamic section of an ELF file.  The file is mapped and only a few pages of it are
 * touched:
 *
 *     ELF header -> program headers -> dynamic section -> DT_NEEDED names, names of symbols
 *               `-> section headers -> the section that a statically linked xmpi brings along
 *
 * The symbols' names are searched as text in the string table: it holds every function that the
 * program takes from a library.  Offsets come from a file that may be damaged, so each is checked
 * against the size of the mapping.
 */
#define _GNU_SOURCE 1 /* memmem */
#include "launcher/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUILD_SECTION "xmpi-build" /* of every libmpi_abi, see src/version.c */

struct file {
    const char *bytes;
    size_t size;
    const Elf64_Ehdr *header;
};

static const void *part(const struct file *f, uint64_t offset, uint64_t bytes)
{
    return offset <= f->size && bytes <= f->size - offset ? f->bytes + offset : NULL;
}

/* The same for what is made of 64-bit words. */
static const void *table(const struct file *f, uint64_t offset, uint64_t bytes)
{
    return offset % sizeof(uint64_t) == 0 ? part(f, offset, bytes) : NULL;
}

static bool is_elf(struct file *f)
{
    f->header = table(f, 0, sizeof *f->header);
    return f->header && memcmp(f->header->e_ident, ELFMAG, SELFMAG) == 0 &&
           f->header->e_ident[EI_CLASS] == ELFCLASS64 &&
           f->header->e_ident[EI_DATA] == ELFDATA2LSB;
}

/* ---- libraries and symbols ---- */

struct dynamic {
    const Elf64_Dyn *entries;
    size_t n;
    const char *names; /* the string table; ends with a zero byte */
    size_t names_bytes;
};

static const Elf64_Phdr *program_headers(const struct file *f)
{
    return f->header->e_phentsize == sizeof(Elf64_Phdr)
               ? table(f, f->header->e_phoff, f->header->e_phnum * sizeof(Elf64_Phdr))
               : NULL;
}

static uint64_t offset_of(const struct file *f, const Elf64_Phdr *segments, uint64_t address)
{
    for (int i = 0; i < f->header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD && address >= segments[i].p_vaddr &&
            address - segments[i].p_vaddr < segments[i].p_filesz)
            return address - segments[i].p_vaddr + segments[i].p_offset;
    return UINT64_MAX;
}

static bool dynamic_find(const struct file *f, struct dynamic *d)
{
    const Elf64_Phdr *segments = program_headers(f);
    *d = (struct dynamic){ 0 };
    for (int i = 0; segments && i < f->header->e_phnum; i++)
        if (segments[i].p_type == PT_DYNAMIC) {
            d->entries = table(f, segments[i].p_offset, segments[i].p_filesz);
            d->n = segments[i].p_filesz / sizeof *d->entries;
        }
    uint64_t address = 0;
    for (size_t i = 0; d->entries && i < d->n; i++) {
        if (d->entries[i].d_tag == DT_STRTAB)
            address = d->entries[i].d_un.d_ptr;
        if (d->entries[i].d_tag == DT_STRSZ)
            d->names_bytes = d->entries[i].d_un.d_val;
    }
    if (!address || !d->names_bytes)
        return false;
    d->names = part(f, offset_of(f, segments, address), d->names_bytes);
    return d->names && !d->names[d->names_bytes - 1];
}

/* Does the program load a library whose file name starts like this? */
static bool needs(const struct dynamic *d, const char *library)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->entries[i].d_tag == DT_NEEDED && d->entries[i].d_un.d_val < d->names_bytes &&
            strncmp(d->names + d->entries[i].d_un.d_val, library, strlen(library)) == 0)
            return true;
    return false;
}

static bool needs_only_c(const struct dynamic *d)
{
    static const char *const harmless[] = { "libc.so.", "libm.so.", "libpthread.so.",
                                            "librt.so.", "ld-linux" };
    for (size_t i = 0; i < d->n; i++) {
        if (d->entries[i].d_tag != DT_NEEDED)
            continue;
        if (d->entries[i].d_un.d_val >= d->names_bytes)
            return false;
        const char *name = d->names + d->entries[i].d_un.d_val;
        bool known = false;
        for (size_t k = 0; k < sizeof harmless / sizeof harmless[0]; k++)
            known = known || strncmp(name, harmless[k], strlen(harmless[k])) == 0;
        if (!known)
            return false;
    }
    return true;
}

/* Does it take a function with this name from a library? */
static bool calls(const struct dynamic *d, const char *function)
{
    size_t bytes = strlen(function) + 1;
    const char *at = d->names, *end = d->names + d->names_bytes;
    while ((at = memmem(at, (size_t)(end - at), function, bytes))) {
        if (at > d->names && !at[-1])
            return true;
        at++;
    }
    return false;
}

static bool opens_or_runs_others(const struct dynamic *d)
{
    static const char *const functions[] = {
        "dlopen",  "dlmopen", "execl",       "execle",       "execlp",   "execv",
        "execve",  "execvp",  "execvpe",     "fexecve",      "system",   "popen",
        "syscall", "clone",   "posix_spawn", "posix_spawnp", "execveat",
    };
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (calls(d, functions[i]))
            return true;
    return false;
}

/* ---- statically linked xmpi ---- */

static bool has_mark(const struct file *f)
{
    const Elf64_Ehdr *h = f->header;
    const Elf64_Shdr *sections = h->e_shentsize == sizeof(Elf64_Shdr)
                                     ? table(f, h->e_shoff, h->e_shnum * sizeof(Elf64_Shdr))
                                     : NULL;
    if (!sections || h->e_shstrndx >= h->e_shnum)
        return false;
    const Elf64_Shdr *strings = &sections[h->e_shstrndx];
    for (int i = 0; i < h->e_shnum; i++) {
        uint64_t at = strings->sh_offset + sections[i].sh_name;
        const char *name = part(f, at, sizeof BUILD_SECTION);
        if (name && memcmp(name, BUILD_SECTION, sizeof BUILD_SECTION) == 0)
            return true;
    }
    return false;
}

/* ---- the answer ---- */

static bool judge(struct file *f)
{
    struct dynamic d;
    if (!is_elf(f))
        return true;
    bool is_dynamic = dynamic_find(f, &d);
    if (is_dynamic && needs(&d, "libpmix.so"))
        return true;
    if (is_dynamic && (needs(&d, "libmpi_abi.so") || needs(&d, "libxmpi.so")))
        return false;
    if (has_mark(f))
        return false;
    return !is_dynamic || !needs_only_c(&d) || opens_or_runs_others(&d);
}

bool elf_may_use_pmix(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0 || status.st_size <= 0) {
        if (fd >= 0)
            close(fd);
        return true;
    }
    struct file f = { .size = (size_t)status.st_size };
    void *map = mmap(NULL, f.size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return true;
    f.bytes = map;
    bool answer = judge(&f);
    munmap(map, f.size);
    return answer;
}

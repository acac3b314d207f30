/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The first bytes of the file tell: a program of another machine, an object file, other data, or a text.
 * What has a zero byte in its first line is no text, as shells see it, too.
 */
#include "launcher/foreign.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LOONGARCH = 258 }; /* EM_LOONGARCH: not in the headers of older systems */

struct beginning {
    unsigned char bytes[4096];
    size_t n;
};

static bool begin_read(const char *path, struct beginning *b)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, b->bytes, sizeof b->bytes);
    if (fd >= 0)
        close(fd);
    b->n = n > 0 ? (size_t)n : 0;
    return n >= 0;
}

/* ---- ELF ---- */

/* A number of two bytes in the header, which may be of the other byte order; -1: it ends before. */
static int half_at(const struct beginning *b, size_t offset)
{
    if (b->n < offset + 2)
        return -1;
    const unsigned char *at = b->bytes + offset;
    return b->bytes[EI_DATA] == ELFDATA2MSB ? at[0] << 8 | at[1] : at[1] << 8 | at[0];
}

static int machine_of(const struct beginning *b)
{
    return half_at(b, offsetof(Elf32_Ehdr, e_machine));
}

static const char *machine_name(int machine)
{
    static const struct {
        int machine;
        const char *name;
    } names[] = {
        { EM_X86_64, "x86-64" },  { EM_386, "32-bit x86" }, { EM_AARCH64, "AArch64" },
        { EM_ARM, "32-bit ARM" }, { EM_PPC64, "POWER" },    { EM_PPC, "32-bit POWER" },
        { EM_RISCV, "RISC-V" },   { EM_S390, "s390" },      { LOONGARCH, "LoongArch" },
        { EM_MIPS, "MIPS" },      { EM_SPARCV9, "SPARC" },  { EM_IA_64, "Itanium" },
    };
    static char number[2][32];
    static int turn;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].machine == machine)
            return names[i].name;
    turn = !turn;
    snprintf(number[turn], sizeof number[turn], "machine %d of ELF", machine);
    return number[turn];
}

static const char *elf_why(const struct beginning *b)
{
    static char text[128];
    struct beginning own;
    int machine = machine_of(b),
        here = begin_read("/proc/self/exe", &own) ? machine_of(&own) : -1;
    if (machine >= 0 && here >= 0 && machine != here) {
        snprintf(text, sizeof text, "it is for %s, this machine is %s", machine_name(machine),
                 machine_name(here));
        return text;
    }
    if (half_at(b, offsetof(Elf32_Ehdr, e_type)) == ET_REL)
        return "it is an object file, which has to be linked first";
    return "it is damaged, or this kernel does not run its kind of program";
}

/* ---- scripts ---- */

/* Does its #! line name an interpreter?  That is there, or this would not be asked. */
static bool names_interpreter(const struct beginning *b, size_t line)
{
    size_t at = 2;
    while (at < line && (b->bytes[at] == ' ' || b->bytes[at] == '\t'))
        at++;
    return line > 2 && memcmp(b->bytes, "#!", 2) == 0 && at < line;
}

const char *foreign_why(const char *path)
{
    struct beginning b;
    if (!begin_read(path, &b))
        return NULL; /* nor does a shell read it, which says why */
    if (b.n >= SELFMAG && memcmp(b.bytes, ELFMAG, SELFMAG) == 0)
        return elf_why(&b);
    const unsigned char *end = memchr(b.bytes, '\n', b.n);
    size_t line = end ? (size_t)(end - b.bytes) : b.n;
    if (memchr(b.bytes, 0, line))
        return "it is neither a program of this system nor a script";
    if (names_interpreter(&b, line))
        return "the interpreter that its #! line names is no program of this system";
    return NULL;
}

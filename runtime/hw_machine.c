/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Telling machines apart: what is measured on one says little about another.  Two machines are of one
 * kind when the model of their processor, the number of processors and the architecture agree; where
 * Linux names no model (aarch64), implementer and part of the processor stand for it.
 */
#include "runtime/hw.h"

#include "runtime/text_hash.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The value of the first line "key : value" with one of these keys. */
static void cpuinfo(const char *const *keys, char *text, size_t room)
{
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "re");
    text[0] = '\0';
    while (file && !text[0] && fgets(line, sizeof line, file)) {
        char *value = strchr(line, ':');
        for (const char *const *key = keys; value && *key; key++)
            if (strncmp(line, *key, strlen(*key)) == 0) {
                value[1 + strcspn(value + 1, "\n")] = '\0';
                snprintf(text, room, "%s", value + 1 + strspn(value + 1, " "));
            }
    }
    if (file)
        fclose(file);
}

void hw_machine(char *text, size_t room)
{
    static const char *const model[] = { "model name", "cpu model", "Processor", NULL };
    static const char *const part[] = { "CPU part", NULL };
    static const char *const maker[] = { "CPU implementer", NULL };
    char name[160], number[80];
    struct utsname system;
    cpuinfo(model, name, sizeof name);
    if (!name[0]) {
        cpuinfo(maker, name, 80);
        cpuinfo(part, number, sizeof number);
        snprintf(name + strlen(name), sizeof name - strlen(name), " %s", number);
    }
    int unnamed = uname(&system);
    snprintf(text, room, "%s, %ld CPUs, %s", name, sysconf(_SC_NPROCESSORS_ONLN),
             unnamed ? "?" : system.machine);
}

uint32_t hw_machine_number(void)
{
    char text[320];
    hw_machine(text, sizeof text);
    return text_hash(text);
}

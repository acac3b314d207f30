/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Modules of the pretended driver: text of PTX, line by line.
 *
 *     .visible .entry sum_float( .param .u64 sum_float_param_0, ...    the kernel, its parameters
 *     .reg .b32 %r<5>;                                                 registers
 *     LBB0_2:                                                          a label
 *     @%p1 bra LBB0_3;   setp.lt.u64 %p2, %rd24, %rd13;                steps
 *
 * What it does not know makes cuModuleLoadData fail, as text that is wrong does.
 */
#define _GNU_SOURCE
#include "fake_ptx.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EXPORT cuda_module_load_data cuModuleLoadData;
EXPORT cuda_module_get_function cuModuleGetFunction;
EXPORT cuda_module_unload cuModuleUnload;
EXPORT cuda_func_load cuFuncLoad;
EXPORT cuda_launch_kernel cuLaunchKernel;
EXPORT unsigned fake_launches(void); /* for tests: kernels that were begun */

enum { CLASSES = 6, MOST_LABELS = 64, MOST_STEPS = 1024 };

struct parser {
    struct ptx_kernel *kernel;
    struct {
        char name[4];
        unsigned bits, first;
    } classes[CLASSES];
    int nclasses;
    unsigned registers;
    struct {
        char name[24];
        unsigned step;
    } labels[MOST_LABELS];
    int nlabels;
};

/* ---- words ---- */

static struct ptx_type type_of(const char *word)
{
    if (strcmp(word, "pred") == 0)
        return (struct ptx_type){ 'p', 1 };
    bool known = strchr("usbf", word[0]) && isdigit((unsigned char)word[1]);
    return (struct ptx_type){ known ? word[0] : 0, known ? (unsigned)atoi(word + 1) : 0 };
}

static bool register_of(const struct parser *p, const char *word, struct ptx_operand *o)
{
    size_t length = strcspn(word, "0123456789");
    for (int i = 0; i < p->nclasses; i++)
        if (strlen(p->classes[i].name) == length &&
            strncmp(word, p->classes[i].name, length) == 0) {
            o->what = PTX_REGISTER;
            o->index = p->classes[i].first + (unsigned)atoi(word + length);
            o->bits = p->classes[i].bits;
            return o->index < PTX_REGISTERS;
        }
    return false;
}

static bool special_of(const char *word, struct ptx_operand *o)
{
    static const char *const names[] = { [PTX_BLOCK] = "ctaid.x",
                                         [PTX_BLOCKS] = "nctaid.x",
                                         [PTX_THREAD] = "tid.x",
                                         [PTX_THREADS] = "ntid.x" };
    for (unsigned i = 0; i < 4; i++)
        if (strcmp(word, names[i]) == 0) {
            *o = (struct ptx_operand){ .what = PTX_SPECIAL, .number = i };
            return true;
        }
    return false;
}

/* 0f3f800000, 0d..., -12, 12 */
static bool number_of(const char *word, struct ptx_operand *o)
{
    bool bits = word[0] == '0' && (word[1] == 'f' || word[1] == 'd');
    char *end;
    o->what = PTX_NUMBER;
    o->number = bits             ? strtoull(word + 2, &end, 16)
                : word[0] == '-' ? (uint64_t)strtoll(word, &end, 10)
                                 : strtoull(word, &end, 10);
    return end != word && !*end;
}

/* [%rd5+4], [sum_float_param_3] */
static bool address_of_word(const struct parser *p, char *word, struct ptx_operand *o)
{
    char *close = strchr(word, ']'), *plus = strchr(word, '+');
    char *parameter = strstr(word, "_param_");
    if (!close)
        return false;
    *close = '\0';
    if (plus)
        *plus++ = '\0';
    o->number = plus ? (uint64_t)strtoll(plus, NULL, 10) : 0;
    if (word[0] == '%')
        return register_of(p, word + 1, o);
    o->what = PTX_PARAMETER;
    o->index = parameter ? (unsigned)atoi(parameter + strlen("_param_")) : PTX_PARAMETERS;
    return o->index < p->kernel->parameters;
}

static bool operand_of(const struct parser *p, char *word, struct ptx_operand *o)
{
    *o = (struct ptx_operand){ .what = PTX_NONE };
    if (word[0] == '[')
        return address_of_word(p, word + 1, o);
    if (word[0] == '%')
        return register_of(p, word + 1, o) || special_of(word + 1, o);
    return number_of(word, o);
}

/* ---- lines ---- */

/* add.rn.f32, setp.lt.u64, cvt.rn.f64.s64, cvta.to.global.u64, bra.uni */
static void opcode_take(struct ptx_step *step, char *opcode)
{
    char *rest, *word = strtok_r(opcode, ".", &rest);
    snprintf(step->name, sizeof step->name, "%s", word);
    while ((word = strtok_r(NULL, ".", &rest))) {
        struct ptx_type type = type_of(word);
        if (strcmp(word, "v2") == 0)
            step->pair = true;
        else if (!type.kind && !*step->how)
            snprintf(step->how, sizeof step->how, "%s", word);
        else if (type.kind && !step->type.kind)
            step->type = type;
        else if (type.kind)
            step->source = type;
    }
}

static bool step_take(struct parser *p, char *line)
{
    struct ptx_step step = { .guard = -1 };
    struct ptx_operand guard;
    char *rest, *word = strtok_r(line, " \t;", &rest);
    if (word[0] == '@') {
        step.guard_not = word[1] == '!';
        if (!register_of(p, word + 2 + step.guard_not, &guard))
            return false;
        step.guard = (int)guard.index;
        word = strtok_r(NULL, " \t;", &rest);
    }
    opcode_take(&step, word);
    while ((word = strtok_r(NULL, " \t,;{}", &rest))) {
        if (strcmp(step.name, "bra") == 0)
            snprintf(step.label, sizeof step.label, "%s", word);
        else if (step.n == PTX_OPERANDS || !operand_of(p, word, &step.operand[step.n++]))
            return false;
    }
    if (!ptx_code(&step) || p->kernel->nsteps == MOST_STEPS)
        return false;
    p->kernel->steps[p->kernel->nsteps++] = step;
    return true;
}

/* .reg .b32 %r<5>; */
static bool registers_take(struct parser *p, const char *line)
{
    char type[8], name[4];
    unsigned n;
    if (sscanf(line, ".reg .%7s %%%3[a-z]<%u>;", type, name, &n) != 3 || p->nclasses == CLASSES)
        return false;
    strcpy(p->classes[p->nclasses].name, name);
    p->classes[p->nclasses].bits = type_of(type).bits;
    p->classes[p->nclasses++].first = p->registers;
    p->registers += n;
    return p->registers <= PTX_REGISTERS;
}

static bool label_take(struct parser *p, const char *line)
{
    size_t length = strlen(line) - 1;
    if (p->nlabels == MOST_LABELS || length >= sizeof p->labels[0].name)
        return false;
    memcpy(p->labels[p->nlabels].name, line, length);
    p->labels[p->nlabels++].step = p->kernel->nsteps;
    return true;
}

static bool line_take(struct parser *p, char *line)
{
    struct ptx_kernel *k = p->kernel;
    while (isspace((unsigned char)*line))
        line++;
    if (!*line || strchr("(){}", *line) || strcmp(line, ".version 6.0") == 0 ||
        strcmp(line, ".target sm_60") == 0 || strcmp(line, ".address_size 64") == 0)
        return true;
    if (strncmp(line, ".visible", 8) == 0)
        return !*k->name && sscanf(line, ".visible .entry %63[a-z0-9_](", k->name) == 1;
    if (strncmp(line, ".param .u64 ", 12) == 0)
        return k->parameters++ < PTX_PARAMETERS;
    if (strncmp(line, ".reg", 4) == 0)
        return registers_take(p, line);
    if (line[strlen(line) - 1] == ':')
        return label_take(p, line);
    return step_take(p, line);
}

static bool branches_resolve(const struct parser *p)
{
    for (unsigned i = 0; i < p->kernel->nsteps; i++) {
        struct ptx_step *s = &p->kernel->steps[i];
        int label = 0;
        while (*s->label && label < p->nlabels && strcmp(p->labels[label].name, s->label) != 0)
            label++;
        if (*s->label && label == p->nlabels)
            return false;
        s->target = *s->label ? p->labels[label].step : 0;
    }
    return true;
}

/* ---- the driver's functions ---- */

cuda_result cuModuleLoadData(cuda_module *module, const void *text)
{
    const char *broken = getenv("FAKE_NO_KERNELS");
    cuda_result now = fake_may_call_now();
    if (now || !fake_current())
        return now ? now : INVALID_CONTEXT;
    fake_stall(false);
    struct ptx_kernel *kernel = calloc(1, sizeof *kernel);
    struct parser p = { .kernel = kernel };
    kernel->steps = calloc(MOST_STEPS, sizeof *kernel->steps);
    char *copy = strdup(text), *rest;
    bool good = strncmp(text, ".version 6.0\n", 13) == 0 && !(broken && *broken == '1');
    for (char *l = strtok_r(copy, "\n", &rest); l && good; l = strtok_r(NULL, "\n", &rest))
        good = line_take(&p, l);
    free(copy);
    *module = kernel;
    return good && kernel->nsteps > 0 && branches_resolve(&p) ? SUCCESS : INVALID_PTX;
}

cuda_result cuModuleGetFunction(cuda_function *function, cuda_module module, const char *name)
{
    const struct ptx_kernel *kernel = module;
    *function = module;
    return strcmp(kernel->name, name) == 0 ? SUCCESS : NOT_FOUND;
}

cuda_result cuFuncLoad(cuda_function function)
{
    fake_stall(false);
    ((struct ptx_kernel *)function)->loaded = true;
    return fake_current() ? SUCCESS : INVALID_CONTEXT;
}

cuda_result cuModuleUnload(cuda_module module)
{
    struct ptx_kernel *kernel = module;
    free(kernel->steps);
    free(kernel);
    return fake_current() ? SUCCESS : INVALID_CONTEXT;
}

static unsigned launches;

unsigned fake_launches(void)
{
    return __atomic_load_n(&launches, __ATOMIC_RELAXED);
}

/* A kernel that nobody loaded is loaded now, and a driver may wait for that. */
cuda_result cuLaunchKernel(cuda_function function, unsigned grid_x, unsigned grid_y,
                           unsigned grid_z, unsigned block_x, unsigned block_y,
                           unsigned block_z, unsigned shared_bytes, cuda_stream stream,
                           void **arguments, void **extra)
{
    const struct ptx_kernel *kernel = function;
    cuda_result rc = fake_may_call();
    if (rc)
        return rc;
    if (grid_x == 0 || grid_y != 1 || grid_z != 1 || block_x == 0 || block_x > 1024 ||
        block_y != 1 || block_z != 1 || shared_bytes || extra)
        return INVALID_VALUE;
    if (!kernel->loaded)
        cuFuncLoad(function);
    struct ptx_launch launch = { .kernel = kernel, .blocks = grid_x, .threads = block_x };
    for (unsigned i = 0; i < kernel->parameters; i++)
        memcpy(&launch.arguments[i], arguments[i], sizeof launch.arguments[i]);
    __atomic_fetch_add(&launches, 1, __ATOMIC_RELAXED);
    return fake_kernel_add(&launch, stream);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Performing a kernel: one thread after the other, step by step.  Registers are 64 bits of which a
 * step uses as many as its type has, signed or not; what is written is cut to the register.
 *
 * Strict: memory must be that of the device, and addresses multiples of what is moved.
 */
#include "fake_ptx.h"

#include <string.h>

enum code {
    ADD,
    SUB,
    MUL,
    DIV,
    MIN,
    MAX,
    AND,
    OR,
    XOR,
    SHL,
    SHR,
    BFE, /* two operands or three */
    MOV,
    CVT,
    SETP,
    SELP,
    LOAD,
    STORE,
    BRANCH,
    RETURN,
    CODES
};

static const char *const names[CODES] = { "add",  "sub",  "mul", "div", "min", "max", "and",
                                          "or",   "xor",  "shl", "shr", "bfe", "mov", "cvt",
                                          "setp", "selp", "ld",  "st",  "bra", "ret" };

bool ptx_code(struct ptx_step *step)
{
    int code = 0;
    bool moves = strcmp(step->name, "cvta") == 0; /* addresses are global already */
    while (code < CODES && strcmp(names[code], moves ? "mov" : step->name) != 0)
        code++;
    step->code = code;
    bool plain = code == BRANCH || code == RETURN;
    return code < CODES && (plain || step->type.kind);
}

struct thread {
    uint64_t r[PTX_REGISTERS];
    const struct ptx_launch *launch;
    unsigned block, number;
};

/* ---- numbers ---- */

static uint64_t cut(uint64_t value, unsigned bits)
{
    return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

static int64_t extend(uint64_t value, unsigned bits)
{
    unsigned unused = 64 - bits;
    return (int64_t)(value << unused) >> unused;
}

static double real_of(uint64_t bits, struct ptx_type type)
{
    float f;
    double d;
    uint32_t low = (uint32_t)bits;
    memcpy(&f, &low, sizeof f);
    memcpy(&d, &bits, sizeof d);
    return type.bits == 32 ? f : d;
}

static uint64_t bits_of_real(double value, struct ptx_type type)
{
    float f = (float)value;
    uint32_t low;
    uint64_t bits;
    memcpy(&low, &f, sizeof low);
    memcpy(&bits, &value, sizeof bits);
    return type.bits == 32 ? low : bits;
}

static uint64_t special_of(const struct thread *t, uint64_t which)
{
    return which == PTX_BLOCK    ? t->block
           : which == PTX_BLOCKS ? t->launch->blocks
           : which == PTX_THREAD ? t->number
                                 : t->launch->threads;
}

static inline uint64_t value_of(const struct thread *t, const struct ptx_operand *o)
{
    if (o->what == PTX_REGISTER)
        return t->r[o->index];
    if (o->what == PTX_PARAMETER)
        return t->launch->arguments[o->index];
    return o->what == PTX_SPECIAL ? special_of(t, o->number) : o->number;
}

/* As a number of the step's type: extended to 64 bits, or as it is. */
static inline uint64_t operand(const struct thread *t, const struct ptx_step *s, int i)
{
    struct ptx_type type = s->code == CVT ? s->source : s->type;
    uint64_t value = cut(value_of(t, &s->operand[i]), type.bits);
    return type.kind == 's' ? (uint64_t)extend(value, type.bits) : value;
}

/* ---- calculating ---- */

/* Of two floats each of these, done in double and rounded, has the bits of the same done in float. */
static uint64_t real_calculate(const struct ptx_step *s, uint64_t a, uint64_t b)
{
    double x = real_of(a, s->type), y = real_of(b, s->type);
    double z = s->code == ADD ? x + y : s->code == SUB ? x - y : s->code == MUL ? x * y : x / y;
    return bits_of_real(z, s->type);
}

static uint64_t calculate(const struct thread *t, const struct ptx_step *s)
{
    uint64_t a = operand(t, s, 1), b = operand(t, s, 2);
    bool less = s->type.kind == 's' ? (int64_t)a < (int64_t)b : a < b;
    if (s->type.kind == 'f')
        return real_calculate(s, a, b);
    switch ((enum code)s->code) {
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case MUL: /* lo, or wide: all of it */
        return a * b;
    case DIV: /* by 0: no exception, and any number */
        return b ? a / b : 0;
    case MIN:
        return less ? a : b;
    case MAX:
        return less ? b : a;
    case AND:
        return a & b;
    case OR:
        return a | b;
    case XOR:
        return a ^ b;
    case SHL:
        return value_of(t, &s->operand[2]) < s->type.bits ? a << value_of(t, &s->operand[2])
                                                          : 0;
    case SHR:
        return s->type.kind == 's' ? (uint64_t)((int64_t)a >> b)
               : b < s->type.bits  ? a >> b
                                   : 0;
    default: /* BFE */
        return cut(a >> b, (unsigned)value_of(t, &s->operand[3]));
    }
}

static bool compare(const struct thread *t, const struct ptx_step *s)
{
    uint64_t a = operand(t, s, 1), b = operand(t, s, 2);
    double x = real_of(a, s->type), y = real_of(b, s->type);
    bool real = s->type.kind == 'f', sign = s->type.kind == 's';
    bool less = real ? x < y : sign ? (int64_t)a < (int64_t)b : a < b;
    bool more = real ? x > y : sign ? (int64_t)a > (int64_t)b : a > b;
    bool equal = real ? x == y : a == b;
    switch (s->how[0]) {
    case 'l': /* lt, le */
        return less || (s->how[1] == 'e' && equal);
    case 'g': /* gt, ge */
        return more || (s->how[1] == 'e' && equal);
    default: /* eq, ne */
        return equal == (s->how[0] == 'e');
    }
}

static uint64_t convert(const struct thread *t, const struct ptx_step *s)
{
    uint64_t a = operand(t, s, 1);
    bool from_real = s->source.kind == 'f', to_real = s->type.kind == 'f';
    if (!to_real)
        return cut(a, s->type.bits);
    if (from_real)
        return bits_of_real(real_of(a, s->source), s->type);
    float f = (float)(int64_t)a; /* rounded once */
    return bits_of_real(s->type.bits == 32 ? (double)f : (double)(int64_t)a, s->type);
}

/* ---- memory ---- */

/* One value or two, which lie behind each other. */
static cuda_result memory_move(const struct thread *t, const struct ptx_step *s,
                               uint64_t values[2], bool write)
{
    const struct ptx_operand *o = &s->operand[write ? 0 : s->n - 1];
    uint64_t address = t->r[o->index] + o->number;
    size_t bytes = s->type.bits / 8;
    char memory[2 * sizeof *values];
    for (int i = 0; write && i <= s->pair; i++)
        memcpy(memory + (size_t)i * bytes, &values[i], bytes);
    cuda_result rc = fake_kernel_move(address, memory, s->pair ? 2 * bytes : bytes, write);
    for (int i = 0; !write && i <= s->pair; i++)
        memcpy(&values[i], memory + (size_t)i * bytes, bytes);
    return rc;
}

static cuda_result load(struct thread *t, const struct ptx_step *s)
{
    uint64_t values[2] = { 0 };
    cuda_result rc = SUCCESS;
    if (s->operand[1].what == PTX_PARAMETER)
        values[0] = value_of(t, &s->operand[1]);
    else
        rc = memory_move(t, s, values, false);
    for (int i = 0; rc == SUCCESS && i <= s->pair; i++) {
        const struct ptx_operand *to = &s->operand[i];
        uint64_t value = values[i];
        if (s->type.kind == 's')
            value = (uint64_t)extend(value, s->type.bits);
        t->r[to->index] = cut(value, to->bits);
    }
    return rc;
}

static cuda_result store(const struct thread *t, const struct ptx_step *s)
{
    uint64_t values[2] = { value_of(t, &s->operand[1]),
                           s->pair ? value_of(t, &s->operand[2]) : 0 };
    return memory_move(t, s, values, true);
}

/* ---- steps ---- */

static cuda_result perform(struct thread *t, const struct ptx_step *s)
{
    const struct ptx_operand *to = &s->operand[0];
    uint64_t value;
    if (s->code == STORE)
        return store(t, s);
    if (s->code == LOAD)
        return load(t, s);
    if (s->code == MOV)
        value = operand(t, s, 1);
    else if (s->code == CVT)
        value = convert(t, s);
    else if (s->code == SETP)
        value = compare(t, s);
    else if (s->code == SELP)
        value = operand(t, s, t->r[s->operand[3].index] ? 1 : 2);
    else
        value = calculate(t, s);
    t->r[to->index] = cut(value, to->bits);
    return SUCCESS;
}

static cuda_result thread_run(struct thread *t)
{
    const struct ptx_kernel *k = t->launch->kernel;
    for (unsigned i = 0; i < k->nsteps;) {
        const struct ptx_step *s = &k->steps[i++];
        if (s->guard >= 0 && (t->r[s->guard] != 0) == s->guard_not)
            continue;
        if (s->code == RETURN)
            return SUCCESS;
        if (s->code == BRANCH) {
            i = s->target;
            continue;
        }
        cuda_result rc = perform(t, s);
        if (rc)
            return rc;
    }
    return SUCCESS;
}

cuda_result ptx_run(const struct ptx_launch *launch)
{
    struct thread t = { .launch = launch };
    cuda_result rc = SUCCESS;
    for (t.block = 0; t.block < launch->blocks && !rc; t.block++)
        for (t.number = 0; t.number < launch->threads && !rc; t.number++)
            rc = thread_run(&t);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * 16-bit floating-point numbers as bits: to float, exactly, and back, rounded to the nearest,
 * ties to even.  Too large becomes infinite, a NaN stays one.
 */
#ifndef XMPI_REDUCE_HALF_H
#define XMPI_REDUCE_HALF_H

#include <stdint.h>
#include <string.h>

static inline float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- IEEE binary16 ---- */

/* The exponent is rebased by adding 127 - 15; of infinities and NaNs once more.  A subnormal is
 * given the implicit digit that it lacks, which is then subtracted. */
static inline float half_value(uint16_t half)
{
    uint32_t magnitude = (uint32_t)(half & 0x7fff) << 13, sign = (uint32_t)(half & 0x8000)
                                                                 << 16;
    uint32_t rebased = magnitude + (112u << 23);
    uint32_t special = rebased + (112u << 23);
    uint32_t tiny = bits_of_float(float_of_bits(rebased + (1u << 23)) - 0x1p-14f);
    uint32_t bits = magnitude >= 0x1fu << 23 ? special : magnitude < 1u << 23 ? tiny : rebased;
    return float_of_bits(bits | sign);
}

/* Three cases: infinities, NaNs and what rounds to infinity or beyond; results that are
 * subnormal or zero, aligned and rounded by the addition of 0.5, whose last digit is theirs;
 * the others, rounded by adding half a unit less one, plus the last digit that stays. */
static inline uint16_t half_rounded(float value)
{
    uint32_t bits = bits_of_float(value), sign = bits >> 16 & 0x8000;
    uint32_t magnitude = bits & 0x7fffffff;
    uint32_t special = magnitude > 0x7f800000 ? 0x7e00u | (magnitude >> 13 & 0x3ff) : 0x7c00u;
    uint32_t tiny = bits_of_float(float_of_bits(magnitude) + 0.5f) - bits_of_float(0.5f);
    uint32_t normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    uint32_t half = magnitude >= 143u << 23 ? special : magnitude < 113u << 23 ? tiny : normal;
    return (uint16_t)(half | sign);
}

/* ---- bfloat16 ---- */

static inline float bfloat_value(uint16_t half)
{
    return float_of_bits((uint32_t)half << 16);
}

static inline uint16_t bfloat_rounded(float value)
{
    uint32_t bits = bits_of_float(value);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a knob that is a text may be.
 */
#ifndef XMPI_PARAM_TEXT_H
#define XMPI_PARAM_TEXT_H

#include "runtime/param.h"

/* What this text should be and is not, as in "XMPI_POLITE=x is none of auto, always, never"; NULL: nothing is
 * wrong with it, as far as that shows here.  *then: what comes of it, NULL: the default is to be used. */
const char *param_text_wrong(enum param_id id, const char *text, const char **then);

#endif

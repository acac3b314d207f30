/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPIX_Stream: made of what an info object says about a stream of the program, attached to
 * communicators.  A handle in an info object is its bytes in hexadecimal, the first byte of memory
 * first, which is how MPICH writes them.
 */
#include "src/task.h"

#include "runtime/assist.h"
#include "runtime/fail.h"
#include "runtime/gpu_stream.h"
#include "src/api/stream.h"
#include "src/info.h"

#include <string.h>

/* ---- handles as text ---- */

static int digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c | 0x20 : c) : NULL;
    return at ? (int)(at - digits) : -1;
}

static bool hex_read(const char *text, unsigned char *bytes, size_t n)
{
    if (strlen(text) != 2 * n)
        return false;
    for (size_t i = 0; i < n; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        bytes[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

/* ---- making and ending ---- */

static int stream_read(struct stream *stream, const struct info *info)
{
    const char *type = info ? info_get(info, "type") : NULL;
    const char *value = type ? info_get(info, "value") : NULL;
    void *handle;
    if (!type)
        return MPI_SUCCESS;
    if (strcmp(type, "cudaStream_t") != 0)
        return fail(MPI_ERR_ARG,
                    "info key \"type\" is \"%s\"; streams are of type cudaStream_t", type);
    if (!value || !hex_read(value, (unsigned char *)&handle, sizeof handle))
        return fail(MPI_ERR_ARG,
                    "info key \"value\" is %s%s%s, not the %zu bytes of a cudaStream_t in "
                    "hexadecimal; MPIX_Info_set_hex writes them",
                    value ? "\"" : "", value ? value : "missing", value ? "\"" : "",
                    sizeof handle);
    stream->is_device = true;
    return gpu_stream_wrap(stream->device, handle);
}

static unsigned streams; /* made */

int xmpix_stream_create(info_t info, stream_out_t *stream)
{
    struct stream *made = object_new(OBJECT_STREAM, sizeof *made + sizeof(struct gpu_stream));
    if (!made)
        return fail(MPI_ERR_NO_MEM, "no memory for a stream");
    made->device = (struct gpu_stream *)(made + 1);
    made->last = &made->first;
    made->number = streams++;
    int rc = stream_read(made, info);
    if (!rc && made->is_device) {
        rc = assist_start();
        if (!rc)
            tasks_open();
    }
    if (rc) {
        object_delete(made);
        return rc;
    }
    marks_name(made, info ? info_get(info, "name") : NULL);
    *stream = made;
    return MPI_SUCCESS;
}

void stream_drop(struct stream *stream)
{
    if (!stream || !object_drop(stream))
        return;
    marks_drop(stream);
    object_delete(stream);
}

int xmpix_stream_free(stream_free_t *stream)
{
    tasks_reclaim(*stream);
    int rc = stream_check(*stream);
    stream_drop(*stream);
    *stream = NULL;
    return rc;
}

int stream_check(struct stream *stream)
{
    int error = stream->error;
    stream->error = 0;
    return error ? fail(error, "earlier in this stream: %s", stream->text) : MPI_SUCCESS;
}

/* Preloaded beside an MPI library that sends by UCX: notes which messages a rank starts,
 * in their order. What an MPI library sends inside a collective passes no MPI function,
 * but all of it passes these. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucp/api/ucp.h>

#include "recorder.h"

enum { PEERS = 256, NOTES = 100000 };

struct note {
    int is_send, peer;
    long bytes; /* -1: not known */
};

static ucp_ep_h end_of[PEERS];
static struct note notes[NOTES];
static int n_notes, is_recording, learning = -1, rank_shift;
static int inside; /* a function of UCX that is noted already and may call another */

void recorder_learn(int peer)
{
    learning = peer;
}

void recorder_begin(int shift)
{
    rank_shift = shift;
    n_notes = 0;
    is_recording = 1;
}

void recorder_end(FILE *out)
{
    is_recording = 0;
    for (int i = 0; i < n_notes; i++)
        if (notes[i].is_send)
            fprintf(out, "send %d %ld\n", notes[i].peer, notes[i].bytes);
        else
            fprintf(out, "recv %d\n", notes[i].peer);
}

static int find_peer(ucp_ep_h ep)
{
    for (int i = 0; i < PEERS; i++)
        if (end_of[i] == ep)
            return i;
    return -1;
}

static long bytes_of(size_t count, ucp_datatype_t type)
{
    return (type & UCP_DATATYPE_CLASS_MASK) == UCP_DATATYPE_CONTIG
               ? (long)(count * (type >> UCP_DATATYPE_SHIFT))
               : -1;
}

static void note_send(ucp_ep_h ep, size_t count, ucp_datatype_t type)
{
    if (learning >= 0 && learning < PEERS)
        end_of[learning] = ep;
    if (is_recording && !inside && n_notes < NOTES)
        notes[n_notes++] = (struct note){1, find_peer(ep), bytes_of(count, type)};
}

static void note_receive(ucp_tag_t tag)
{
    if (is_recording && !inside && n_notes < NOTES)
        notes[n_notes++] = (struct note){0, (int)(tag >> rank_shift & 0xffff), -1};
}

static ucp_datatype_t type_of(const ucp_request_param_t *param)
{
    return param->op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE ? param->datatype
                                                            : ucp_dt_make_contig(1);
}

static void *real(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) { /* a library that was loaded for a module alone */
        void *ucp = dlopen("libucp.so.0", RTLD_NOW | RTLD_NOLOAD);
        found = ucp ? dlsym(ucp, name) : NULL;
    }
    if (!found)
        abort();
    return found;
}

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, const void *buffer, size_t count,
                                  ucp_tag_t tag, const ucp_request_param_t *param)
{
    static ucs_status_ptr_t (*next)(ucp_ep_h, const void *, size_t, ucp_tag_t,
                                    const ucp_request_param_t *);
    if (!next)
        *(void **)&next = real("ucp_tag_send_nbx");
    note_send(ep, count, type_of(param));
    return next(ep, buffer, count, tag, param);
}

ucs_status_ptr_t ucp_tag_send_nb(ucp_ep_h ep, const void *buffer, size_t count,
                                 ucp_datatype_t type, ucp_tag_t tag,
                                 ucp_send_callback_t done)
{
    static ucs_status_ptr_t (*next)(ucp_ep_h, const void *, size_t, ucp_datatype_t,
                                    ucp_tag_t, ucp_send_callback_t);
    if (!next)
        *(void **)&next = real("ucp_tag_send_nb");
    note_send(ep, count, type);
    inside++;
    ucs_status_ptr_t started = next(ep, buffer, count, type, tag, done);
    inside--;
    return started;
}

ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void *buffer, size_t count,
                                  ucp_tag_t tag, ucp_tag_t mask,
                                  const ucp_request_param_t *param)
{
    static ucs_status_ptr_t (*next)(ucp_worker_h, void *, size_t, ucp_tag_t, ucp_tag_t,
                                    const ucp_request_param_t *);
    if (!next)
        *(void **)&next = real("ucp_tag_recv_nbx");
    note_receive(tag);
    return next(worker, buffer, count, tag, mask, param);
}

ucs_status_ptr_t ucp_tag_recv_nb(ucp_worker_h worker, void *buffer, size_t count,
                                 ucp_datatype_t type, ucp_tag_t tag, ucp_tag_t mask,
                                 ucp_tag_recv_callback_t done)
{
    static ucs_status_ptr_t (*next)(ucp_worker_h, void *, size_t, ucp_datatype_t,
                                    ucp_tag_t, ucp_tag_t, ucp_tag_recv_callback_t);
    if (!next)
        *(void **)&next = real("ucp_tag_recv_nb");
    note_receive(tag);
    inside++;
    ucs_status_ptr_t started = next(worker, buffer, count, type, tag, mask, done);
    inside--;
    return started;
}

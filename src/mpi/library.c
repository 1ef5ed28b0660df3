/* What is known of this job's MPI library: the table of its decisions, and how it sends.
 * Rank 0 reads both; what all do with it is the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mpi/shim.h"

#ifdef OPEN_MPI
#define LIBRARY "openmpi"
#define NAME    "Open MPI"
#else
#define LIBRARY "mpich"
#define NAME    "MPICH"
#endif

/* limit: what is told of a version */
enum { VERSION_TEXT = 16, NOTE_TEXT = 200 };

static char note[NOTE_TEXT]; /* on rank 0 */

/* Of "Open MPI v4.1.4, package: ..." or "MPICH Version: 4.0.2 ...", and its text: 0, or
 * -1. */
static int library_version(struct espi_native_version *out, char shown[VERSION_TEXT])
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    if (PMPI_Get_library_version(text, &length) != MPI_SUCCESS)
        return -1;
    char *number = text + strcspn(text, "0123456789");
    number[strspn(number, "0123456789.")] = '\0';
    snprintf(shown, VERSION_TEXT, "%.*s", VERSION_TEXT - 1, number);
    return espi_native_version_parse(number, out, NULL) ? -1 : 0;
}

static void note_other(const struct espi_native_table *table, const char *version)
{
    const int *from = table->from.part, *to = table->to.part;
    snprintf(note, sizeof note,
             "there is no table of " NAME " %s: what it takes is predicted as of "
             "versions %d.%d.%d to %d.%d.%d",
             version, from[0], from[1], from[2], to[0], to[1], to[2]);
    espi_say(ESPI_LOG_INFO, "%s", note);
}

const char *espi_library_note(void)
{
    return note;
}

esp_status espi_library_read(char **text, uint64_t *length,
                             struct espi_protocol *protocol, struct esp_err *err)
{
    struct espi_native_version version;
    struct espi_native_table *table;
    struct espi_input in;
    char shown[VERSION_TEXT] = "";
    int is_other, known = !library_version(&version, shown);
    esp_status st =
        espi_native_table_read(LIBRARY, known ? &version : NULL, &in, &is_other, err);
    if (st)
        return st;
    st = espi_native_table_parse(in.text, in.length, in.where, &table, err);
    if (!st) {
        if (!known || is_other)
            note_other(table, known ? shown : "of this version");
        *protocol = table->protocol;
        espi_native_read_limits(LIBRARY, getenv, protocol);
        espi_native_table_free(table);
        *text = in.text;
        *length = in.length;
        in.text = NULL;
    }
    espi_input_done(&in);
    return st;
}

esp_status espi_library_take(const char *text, uint64_t length,
                             const struct espi_protocol *protocol, struct esp_err *err)
{
    struct espi_native_table *table;
    esp_status st = espi_native_table_parse(text, (size_t)length,
                                            "the MPI library's decisions", &table, err);
    if (st)
        return st;
    espi_job.table = table;
    espi_job.library = (struct espi_native_library){table, *protocol};
    return ESP_OK;
}

void espi_library_forget(void)
{
    espi_native_table_free(espi_job.table);
    espi_job.table = NULL;
    espi_job.library.table = NULL;
}

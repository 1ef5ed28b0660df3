/* Where the ranks of the job are in the network, the part of it that is theirs, and the
 * plan from outside for that part. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "mpi/shim.h"
#include "platform/part.h"
#include "platform/platform.h"

/* ---- where the ranks are ---- */

enum { NAME = 256 }; /* limit: of a host's name */

/* How many names are in "a,b,c". */
static int count_names(const char *list)
{
    int n = *list != '\0';
    for (; *list; list++)
        n += *list == ',' && list[1];
    return n;
}

/* Name number i of "a,b,c"; 0: there is none. */
static int listed_name(const char *list, int i, char out[NAME])
{
    for (; i > 0 && *list; i--) {
        list += strcspn(list, ",");
        list += *list == ',';
    }
    size_t length = strcspn(list, ",");
    if (length == 0 || length >= NAME)
        return 0;
    memcpy(out, list, length);
    out[length] = '\0';
    return 1;
}

static void own_name(char out[NAME])
{
    memset(out, 0, NAME);
    if (listed_name(espi_job.settings.hosts, espi_job.rank, out))
        return;
    if (gethostname(out, NAME - 1) || !out[0])
        snprintf(out, NAME, "localhost");
}

esp_status espi_find_job_nodes(struct esp_err *err)
{
    char own[NAME];
    char *names = espi_array((size_t)espi_job.n, NAME);
    const char **list = ESPI_NEW(const char *, espi_job.n);
    espi_job.node = ESPI_NEW(int, espi_job.n);
    esp_status st = names && list && espi_job.node ? ESP_OK : espi_err_nomem(err);
    int listed = count_names(espi_job.settings.hosts);
    if (!st && listed && listed < espi_job.n)
        st =
            espi_err(err, ESP_EUSAGE,
                     "--hosts (ESPALIER_HOSTS) is short: it names the hosts of %d ranks, "
                     "and there are %d",
                     listed, espi_job.n);
    own_name(own);
    if (espi_vote(!st)) {
        PMPI_Allgather(own, NAME, MPI_CHAR, names, NAME, MPI_CHAR, MPI_COMM_WORLD);
        for (int i = 0; i < espi_job.n; i++)
            list[i] = names + (size_t)i * NAME;
        st = espi_find_nodes(espi_job.net, espi_job.n, list, espi_job.node, err);
    } else if (!st) {
        st = espi_err(err, ESP_ENOMEM, "a rank is out of memory");
    }
    espi_free(names);
    espi_free(list);
    return st;
}

/* ---- the job's part of the network ---- */

/* The hosts that have ranks, each once; *n: how many. */
static int *hosts_with_ranks(int *n)
{
    int *hosts = ESPI_NEW(int, espi_job.n);
    unsigned char *seen = espi_calloc((size_t)espi_job.net->n_nodes, 1);
    *n = 0;
    for (int r = 0; hosts && seen && r < espi_job.n; r++) {
        if (!seen[espi_job.node[r]])
            hosts[(*n)++] = espi_job.node[r];
        seen[espi_job.node[r]] = 1;
    }
    if (!seen) {
        espi_free(hosts);
        hosts = NULL;
    }
    espi_free(seen);
    return hosts;
}

/* Where hosts have no ranks, the part of the network without them is the job's, and a
 * plan is for it. Not under an advisor, which knows the nodes of the whole by their
 * numbers. */
static esp_status cut_network(struct esp_err *err)
{
    struct esp_platform *part = NULL;
    int n, *hosts = hosts_with_ranks(&n);
    int *place = ESPI_NEW(int, espi_job.net->n_nodes);
    esp_status st = hosts && place ? ESP_OK : espi_err_nomem(err);
    if (!st && n < espi_job.net->n_hosts && !espi_job.settings.advice[0]) {
        st = espi_platform_part(espi_job.net, n, hosts, &part, place, err);
        for (int r = 0; !st && r < espi_job.n; r++)
            espi_job.node[r] = place[espi_job.node[r]];
    }
    if (!st && part) {
        esp_platform_free(espi_job.net);
        espi_job.net = part;
    }
    espi_free(place);
    espi_free(hosts);
    return st;
}

esp_status espi_take_plan(const char *text, size_t length, const char *name,
                          struct esp_err *err)
{
    const char *where = name[0] ? name : "the plan";
    struct esp_plan *whole = NULL;
    int hosts = espi_job.net->n_hosts;
    if (!length)
        return cut_network(err);
    esp_status fits = esp_plan_parse(text, length, where, espi_job.net, &whole, err);
    esp_plan_free(whole);
    if (fits == ESP_ENOMEM)
        return fits;
    struct esp_err why = {.text = ""};
    esp_status st = cut_network(&why);
    if (!st)
        st = esp_plan_parse(text, length, where, espi_job.net, &espi_job.plan, &why);
    if (!st || fits) /* else what is wrong with it is known */
        return st ? fits : ESP_OK;
    if (st == ESP_ENOMEM)
        return espi_err_nomem(err);
    espi_say(ESPI_LOG_WARN,
             "the plan is not used, others are made: it is for %d hosts, of which %d run "
             "a rank",
             hosts, espi_job.net->n_hosts);
    return ESP_OK;
}

/* On which hosts will a job run, as far as can be known before it starts? */
#ifndef ESPI_CLI_LAUNCHING_JOB_HOSTS_H
#define ESPI_CLI_LAUNCHING_JOB_HOSTS_H

#include <espalier/platform.h>

#include "cli/command.h"

/* The nodes of the hosts that --hosts names, or the launcher's own options (--host,
 * --hostfile, --nodelist and the like), or the batch system (SLURM_JOB_NODELIST,
 * PBS_NODEFILE, OAR_NODEFILE), each once, that of rank 0 first; espi_free *nodes. *n is 0
 * where nothing is known, or where a host that the user did not name by --hosts is not in
 * the platform. CLI_OK, or a sentence and the exit code. */
int cli_job_hosts(const struct cli_args *args, const struct esp_platform *p, int **nodes,
                  int *n);

#endif

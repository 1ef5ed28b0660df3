/* The agent: what runs on each host that gets a copy, or passes one on. It is told what
 * to do over its standard input, and does nothing that it is not told there. */
#ifndef ESPI_COPY_AGENT_H
#define ESPI_COPY_AGENT_H

struct espi_agent_options {
    const char *below; /* NULL, or the folder that it never writes outside of */
};

/* Serves one copy, to its end: 0, or 1 when it was told of an error or nothing. */
int espi_agent_serve(int in, int out, const struct espi_agent_options *options);

#endif

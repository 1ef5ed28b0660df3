#include "copy/blame.h"

/* Does the receiver of the stream wait for others itself? Who keeps what it gets takes
 * more of it all the same. */
static int has_excuse(const struct espi_program *prog, const unsigned char *stuck,
                      const unsigned char *only_passes, int stream)
{
    int to = prog->streams[stream].to;
    for (int s = 0; only_passes[to] && s < prog->n_streams; s++)
        if (stuck[s] && prog->streams[s].from == to)
            return 1;
    return 0;
}

int espi_blame_stuck(const struct espi_program *prog, unsigned char *stuck,
                     const unsigned char *only_passes)
{
    enum { EXCUSED = 2 }; /* code: beside 1, stuck */
    int n = 0, first = -1;
    for (int s = 0; s < prog->n_streams; s++) {
        if (!stuck[s])
            continue;
        if (first < 0)
            first = s;
        if (has_excuse(prog, stuck, only_passes, s))
            stuck[s] = EXCUSED;
        else
            n++;
    }
    for (int s = 0; s < prog->n_streams; s++)
        stuck[s] = stuck[s] == 1 || (n == 0 && s == first);
    return n > 0 ? n : first >= 0;
}

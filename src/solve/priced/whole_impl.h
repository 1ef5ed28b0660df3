/* What the files of whole.h share: its rows and columns. */
#ifndef ESPI_SOLVE_PRICED_WHOLE_IMPL_H
#define ESPI_SOLVE_PRICED_WHOLE_IMPL_H

#include "solve/priced/whole.h"

/* code: columns; then x, and links */
enum { ESPI_WHOLE_TIME = 0, ESPI_WHOLE_MISSING = 1, ESPI_WHOLE_MACHINES = 2 };

enum espi_priced_whole_row_kind {
    ESPI_WHOLE_ROW_FIXED, /* no link is in it */
    ESPI_WHOLE_ROW_LINK,  /* of one link, which has a column */
    ESPI_WHOLE_ROW_CUT,
    ESPI_WHOLE_ROW_NEED,  /* of a limit: what it takes of machines or of time */
    ESPI_WHOLE_ROW_PARTS, /* of a limit: partitions that fit */
    ESPI_WHOLE_ROW_IN,    /* into a relay, once at most */
    ESPI_WHOLE_ROW_OUT,   /* in less out, of a relay */
};

struct espi_priced_row {
    int kind, owner;
    int which; /* of a link's: bit of has_row */
};

int espi_priced_whole_make_term_room(struct espi_priced_whole *w, size_t n);
int espi_priced_whole_add_row(struct espi_priced_whole *w, int count, double lower,
                              double upper, enum espi_priced_whole_row_kind kind,
                              int owner);
double espi_priced_whole_link_in_row(const struct espi_priced_whole *w,
                                     const struct espi_priced_row *row, int e);
int espi_priced_whole_add_cut_row(struct espi_priced_whole *w, int cut);
int espi_priced_whole_add_machine_rows(struct espi_priced_whole *w, int v);
int espi_priced_whole_add_relay_rows(struct espi_priced_whole *w, int v);
int espi_priced_whole_add_limit_rows(struct espi_priced_whole *w, int i);
int espi_priced_whole_put_link_row(struct espi_priced_whole *w, int e, int at_head,
                                   int parts);
void espi_priced_whole_set_costs(struct espi_priced_whole *w);
void espi_priced_whole_set_bounds(struct espi_priced_whole *w, int column, double lower,
                                  double upper);
void espi_priced_whole_add_columns(struct espi_priced_whole *w, int from, int to);
void espi_priced_whole_keep_link(struct espi_priced_whole *w, int e);
int espi_priced_whole_build_sub(struct espi_priced_whole *w);
int espi_priced_whole_add_worthy_links(struct espi_priced_whole *w);

#endif

/* Sites are called by what the names of their hosts have in common ("lyon" for lyon-3 and
 * lyon-c2-1), where that tells them apart; otherwise site1, site2, ... */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "measure/measured.h"

enum { ROOM = sizeof *((struct espi_measured *)0)->site_name };

/* How much of the text stands before a number, a dash, a dot and the like. */
static size_t stem(const char *text, size_t length)
{
    size_t word = 0;
    for (size_t i = 0; i < length; i++)
        if (strchr("-_.:", text[i]))
            word = i;
    if (word)
        length = word;
    while (length &&
           (isdigit((unsigned char)text[length - 1]) || strchr("-_.:", text[length - 1])))
        length--;
    return length;
}

static void shorten(char *name, const char *host)
{
    size_t n = 0;
    while (name[n] && name[n] == host[n])
        n++;
    name[n] = '\0';
}

/* A character of which a part was cut off goes as a whole. */
static void drop_broken_character(char *name)
{
    size_t length = strlen(name), at = 0, bytes;
    uint32_t character;
    while (at < length && (bytes = espi_utf8(&name[at], length - at, &character)) > 0)
        at += bytes;
    name[at] = '\0';
}

static int all_differ(const struct espi_measured *net)
{
    for (int a = 0; a < net->n_sites; a++) {
        if (!net->site_name[a][0])
            return 0;
        for (int b = 0; b < a; b++)
            if (strcmp(net->site_name[a], net->site_name[b]) == 0)
                return 0;
    }
    return 1;
}

int espi_measured_name_sites(struct espi_measured *net, struct espi_arena *arena)
{
    net->site_name = espi_arena_zalloc(arena, (size_t)net->n_sites, ROOM);
    int *members = ESPI_ARENA_ZNEW(arena, int, net->n_sites);
    if (!net->site_name || !members)
        return -1;
    for (int h = 0; h < net->n_hosts; h++) {
        const char *host = espi_names_text(&net->samples->hosts, h);
        char *name = net->site_name[net->site[h]];
        if (members[net->site[h]]++)
            shorten(name, host);
        else
            snprintf(name, ROOM, "%s", host);
    }
    for (int s = 0; s < net->n_sites; s++)
        if (members[s] > 1)
            net->site_name[s][stem(net->site_name[s], strlen(net->site_name[s]))] = '\0';
    for (int s = 0; s < net->n_sites; s++)
        drop_broken_character(net->site_name[s]);
    if (net->n_sites <= 200 && all_differ(net))
        return 0;
    for (int s = 0; s < net->n_sites; s++)
        snprintf(net->site_name[s], ROOM, "site%d", s + 1);
    return 0;
}

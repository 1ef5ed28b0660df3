/* Categories of variables: one of ours, in front of the library's, whose variables and
 * categories have other indices now. */
#include <string.h>

#include "mpi/variables.h"

enum { OWN = 0, N_OWN = 1 }; /* code: indices */

static const char own_name[] = "espalier";

static int library_index(int index)
{
    return index < 0 ? index : index - N_OWN;
}

static int ask_library(void)
{
    int n;
    return PMPI_T_category_get_num(&n);
}

int espi_category_get_num(int *n)
{
    int code = PMPI_T_category_get_num(n);
    if (!code)
        *n += N_OWN;
    return code;
}

int espi_category_get_info(int index, char *name, int *name_length, char *text,
                           int *text_length, int *n_cvars, int *n_pvars,
                           int *n_categories)
{
    if (index != OWN)
        return PMPI_T_category_get_info(library_index(index), name, name_length, text,
                                        text_length, n_cvars, n_pvars, n_categories);
    int code = ask_library();
    if (code)
        return code;
    espi_give_text(own_name, name, name_length);
    espi_give_text("Plans for collectives: settings, and what was done", text,
                   text_length);
    ESPI_GIVE(n_cvars, espi_n_cvars());
    ESPI_GIVE(n_pvars, espi_n_pvars());
    ESPI_GIVE(n_categories, 0);
    return MPI_SUCCESS;
}

int espi_category_get_index(const char *name, int *index)
{
    int code = PMPI_T_category_get_index(name, index);
    if (!code) {
        *index += N_OWN;
    } else if (code != MPI_T_ERR_NOT_INITIALIZED && name && index &&
               strcmp(name, own_name) == 0) {
        *index = OWN;
        code = MPI_SUCCESS;
    }
    return code;
}

/* All of ours, as far as there is room. */
static int list_own(int n, int room, int indices[])
{
    int code = ask_library();
    for (int i = 0; !code && i < n && i < room; i++)
        indices[i] = i;
    return code;
}

/* The library's indices, as tools see them. */
static int shift_indices(int code, int by, int n, int room, int indices[])
{
    for (int i = 0; !code && i < n && i < room; i++)
        indices[i] += by;
    return code;
}

struct members {
    int cvars, pvars, categories;
};

/* Of a category of the library's; none where there is no such category. */
static struct members count_members(int index)
{
    struct members m = {0, 0, 0};
    if (PMPI_T_category_get_info(index, NULL, NULL, NULL, NULL, &m.cvars, &m.pvars,
                                 &m.categories))
        m = (struct members){0, 0, 0};
    return m;
}

int espi_category_get_cvars(int index, int room, int indices[])
{
    int behind = library_index(index);
    if (index == OWN)
        return list_own(espi_n_cvars(), room, indices);
    int code = PMPI_T_category_get_cvars(behind, room, indices);
    return shift_indices(code, espi_n_cvars(), count_members(behind).cvars, room,
                         indices);
}

int espi_category_get_pvars(int index, int room, int indices[])
{
    int behind = library_index(index);
    if (index == OWN)
        return list_own(espi_n_pvars(), room, indices);
    int code = PMPI_T_category_get_pvars(behind, room, indices);
    return shift_indices(code, espi_n_pvars(), count_members(behind).pvars, room,
                         indices);
}

int espi_category_get_categories(int index, int room, int indices[])
{
    int behind = library_index(index);
    if (index == OWN)
        return ask_library();
    int code = PMPI_T_category_get_categories(behind, room, indices);
    return shift_indices(code, N_OWN, count_members(behind).categories, room, indices);
}

#if MPI_VERSION >= 4

int espi_category_get_num_events(int index, int *n)
{
    if (index != OWN)
        return PMPI_T_category_get_num_events(library_index(index), n);
    *n = 0;
    return ask_library();
}

int espi_category_get_events(int index, int room, int indices[])
{
    return index == OWN ? ask_library()
                        : PMPI_T_category_get_events(library_index(index), room, indices);
}

#endif

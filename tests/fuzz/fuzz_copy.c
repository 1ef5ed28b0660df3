/* What travels between the hosts of a copy: the first byte says whether the rest is a
 * list of files, a part of a program or messages of the control channel. What is taken
 * must be within its bounds. */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "copy/control.h"
#include "copy/manifest.h"
#include "copy/part.h"

static void try_list(const uint8_t *data, size_t size)
{
    struct espi_manifest m = {0};
    if (espi_manifest_read(&m, data, size, NULL))
        return;
    for (uint32_t i = 0; i < m.n_entries; i++)
        if (!espi_copy_path_is_sound(m.entry[i].path))
            abort();
    for (uint32_t i = 0; i < m.n_extents; i++)
        if (espi_manifest_find(&m, m.extent[i].stream) != i)
            abort();
    espi_manifest_done(&m);
}

static void try_part(const uint8_t *data, size_t size)
{
    struct espi_copy_part part;
    struct espi_arena arena;
    espi_arena_init(&arena);
    struct espi_wire_in r = espi_wire_in(data, size);
    if (espi_part_read(&part, &r, &arena, NULL) == ESP_OK)
        for (uint32_t s = 0; s < part.n_slices; s++) {
            size_t bytes;
            uint64_t at = espi_block_at(&part.message, part.block[s], &bytes);
            if (bytes == 0 || at + bytes > part.message.size)
                abort();
        }
    espi_arena_done(&arena);
}

static void try_control(const uint8_t *data, size_t size)
{
    struct espi_control c;
    struct espi_wire_in body;
    int fd[2], type;
    if (pipe(fd))
        abort();
    if (size > 0 && write(fd[1], data, size > 60000 ? 60000 : size) < 0)
        abort();
    close(fd[1]);
    espi_control_open(&c, fd[0], fd[0]);
    espi_control_read(&c);
    while (espi_control_next(&c, &type, &body) > 0)
        if (body.at > body.end)
            abort();
    espi_control_close(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] % 3 == 0)
        try_list(data + 1, size - 1);
    else if (data[0] % 3 == 1)
        try_part(data + 1, size - 1);
    else
        try_control(data + 1, size - 1);
    return 0;
}

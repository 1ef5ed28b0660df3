/* What is read is what the linker of this machine has written into the program: the names
 * of the libraries that it is to be loaded with. A program may be damaged: nothing is
 * looked at that is not in the file. */
#include "cli/launching/program_mpi.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/launching/launcher.h"

struct image {
    const char *bytes;
    size_t size;
    const ElfW(Phdr) * segments;
    size_t n_segments;
};

/* ---- the file ---- */

int cli_program_file(const char *command, char out[PATH_MAX])
{
    const char *dirs = getenv("PATH");

    if (strchr(command, '/'))
        return realpath(command, out) ? 0 : -1;
    while (dirs && *dirs) {
        char path[PATH_MAX];
        size_t length = strcspn(dirs, ":");
        int n = snprintf(path, sizeof path, "%.*s/%s", (int)length, dirs, command);
        if (n > 0 && (size_t)n < sizeof path && access(path, X_OK) == 0 &&
            realpath(path, out))
            return 0;
        dirs += length + (dirs[length] == ':');
    }
    return -1;
}

static int map_file(const char *path, struct image *image)
{
    struct stat s;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    void *bytes = MAP_FAILED;

    if (fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0)
        bytes = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (bytes == MAP_FAILED)
        return -1;
    *image = (struct image){.bytes = bytes, .size = (size_t)s.st_size};
    return 0;
}

/* n things of that size there, aligned as they have to be; NULL: not in the file. */
static const void *part_of(const struct image *image, size_t at, size_t n, size_t size)
{
    if (at > image->size || n > (image->size - at) / size || at % sizeof(ElfW(Addr)) != 0)
        return NULL;
    return image->bytes + at;
}

/* ---- what it needs ---- */

static int read_segments(struct image *image)
{
    const ElfW(Ehdr) *head = part_of(image, 0, 1, sizeof *head);
    const int class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;

    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != class || head->e_phentsize != sizeof(ElfW(Phdr)))
        return -1;
    image->segments = part_of(image, head->e_phoff, head->e_phnum, sizeof(ElfW(Phdr)));
    image->n_segments = head->e_phnum;
    return image->segments ? 0 : -1;
}

/* Where in the file is what will be at that address? Behind its end: nowhere. */
static size_t offset_of(const struct image *image, ElfW(Addr) address)
{
    for (size_t i = 0; i < image->n_segments; i++) {
        const ElfW(Phdr) *s = &image->segments[i];
        if (s->p_type == PT_LOAD && address >= s->p_vaddr &&
            address - s->p_vaddr < s->p_filesz)
            return s->p_offset + (address - s->p_vaddr);
    }
    return image->size;
}

/* Open MPI's libraries have been called libmpi.so.40 since its version 3; MPICH's are
 * libmpi.so.12, or libmpich.so.12 where, as on Debian, the other is installed beside. */
static int mpi_of_library(const char *name)
{
    static const struct {
        const char *start;
        int mpi;
    } known[] = {{"libmpich", CLI_MPICH},
                 {"libmpi.so.12", CLI_MPICH},
                 {"libmpifort.so.12", CLI_MPICH},
                 {"libmpi.so.", CLI_OPENMPI},
                 {"libmpi_", CLI_OPENMPI}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(name, known[i].start, strlen(known[i].start)) == 0)
            return known[i].mpi;
    return -1;
}

/* The libraries that the list names, until its end. */
static int mpi_of_dynamic(const struct image *image, const ElfW(Dyn) * list, size_t n)
{
    size_t names = image->size;
    int found = -1;

    for (size_t i = 0; i < n && list[i].d_tag != DT_NULL; i++)
        if (list[i].d_tag == DT_STRTAB)
            names = offset_of(image, list[i].d_un.d_ptr);
    for (size_t i = 0; i < n && list[i].d_tag != DT_NULL; i++) {
        size_t left = image->size - names, at = list[i].d_un.d_val;
        if (list[i].d_tag != DT_NEEDED || at >= left ||
            !memchr(image->bytes + names + at, '\0', left - at))
            continue;
        int mpi = mpi_of_library(image->bytes + names + at);
        if (mpi >= 0 && found >= 0 && mpi != found)
            return -1;
        found = mpi >= 0 ? mpi : found;
    }
    return found;
}

static int mpi_of_image(struct image *image)
{
    if (read_segments(image))
        return -1;
    for (size_t i = 0; i < image->n_segments; i++) {
        const ElfW(Phdr) *s = &image->segments[i];
        size_t n = s->p_filesz / sizeof(ElfW(Dyn));
        const ElfW(Dyn) *list =
            s->p_type == PT_DYNAMIC ? part_of(image, s->p_offset, n, sizeof *list) : NULL;
        if (list)
            return mpi_of_dynamic(image, list, n);
    }
    return -1;
}

int cli_program_mpi(const char *command)
{
    char path[PATH_MAX];
    struct image image;

    if (cli_program_file(command, path) || map_file(path, &image))
        return -1;
    int mpi = mpi_of_image(&image);
    munmap((void *)image.bytes, image.size);
    return mpi;
}

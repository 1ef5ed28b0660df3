/* Files below a folder: opening and removing them, and their bytes. */
#ifndef ESPI_COPY_TREE_H
#define ESPI_COPY_TREE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* As openat, but never outside the folder nor through a symbolic link. */
int espi_open_beneath(int folder, const char *path, int flags, mode_t mode);

/* Opens the folder in which the path's last part is, in the same way, and gives that part
 * in *name; -1 and errno. To be closed. */
int espi_open_parent(int folder, const char *path, const char **name);

/* The folder of the file that was opened last: of many files in it each is opened by its
 * name alone. */
struct espi_folder_at_hand {
    int fd, base; /* -1: none; the folder that its path is below */
    size_t length;
    char path[4096]; /* limit: as the kernel's */
};

#define ESPI_NO_FOLDER ((struct espi_folder_at_hand){.fd = -1})

/* Goes to the folder in which the path's last part is, whose name it gives in *name: a
 * descriptor that stays the folder's; -1 and errno. */
int espi_go_to_parent(struct espi_folder_at_hand *h, int base, const char *path,
                      const char **name);
/* As espi_open_beneath. */
int espi_open_at_hand(struct espi_folder_at_hand *h, int base, const char *path,
                      int flags, mode_t mode);
void espi_leave_folder(struct espi_folder_at_hand *h);

/* Opens the folder of that name, also one that nobody may read or write to, which ends
 * that; -1: it is none. */
int espi_open_to_empty(int folder, const char *name);
/* Removes all that is in an open folder. */
void espi_empty_folder(int fd);
/* Removes what is there under that name, and all below it. */
void espi_remove_tree(int folder, const char *name);

/* Writes or reads all of these bytes of an open file; -1 and errno, ENOSPC or ENODATA
 * where there is no more. */
int espi_move_at(int fd, int writes, void *data, size_t bytes, uint64_t at);

#endif

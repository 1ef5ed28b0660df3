/* Gives every file of a folder to a fuzz target, once: inputs that were trouble before
 * stay tested in builds without libFuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (!in) {
        perror(path);
        return -1;
    }
    size_t size = 0, capacity = 1 << 16;
    uint8_t *data = malloc(capacity);
    while (data && (size += fread(data + size, 1, capacity - size, in)) == capacity)
        data = realloc(data, capacity *= 2);
    fclose(in);
    if (!data)
        return -1;
    /* Exactly as large as the input, so that a sanitizer sees a read past its end. */
    uint8_t *exact = malloc(size ? size : 1);
    if (exact) {
        memcpy(exact, data, size);
        LLVMFuzzerTestOneInput(exact, size);
    }
    free(exact);
    free(data);
    return exact ? 0 : -1;
}

int main(int argc, char **argv)
{
    DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;
    if (!dir) {
        fprintf(stderr, "usage: %s FOLDER-OF-INPUTS\n", argv[0]);
        return 2;
    }
    int count = 0, failed = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        char path[4096];
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name);
        failed |= replay_file(path);
        count++;
    }
    closedir(dir);
    printf("%d inputs replayed\n", count);
    return failed || count == 0;
}

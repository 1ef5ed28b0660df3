/* How long, and with how much memory, `espalier info` takes to load a large platform:
 * 100,000 nodes and 1,000,000 links unless told otherwise.
 *   bench_load [--json] [NODES LINKS] */
#include <espalier/espalier.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"

struct result {
    double write_s, info_s, info_cpu_s;
    double file_bytes, peak_bytes;
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static void stop(const char *what)
{
    fprintf(stderr, "bench_load: %s\n", what);
    exit(1);
}

static void stop_if(esp_status status, const struct esp_err *err)
{
    if (status)
        stop(err->text);
}

/* A ring, so that every node is reached, and links at random distances; each link once:
 * node i has its links to i + d for the same set of distances d. */
static struct esp_platform *make_platform(int nodes, int links)
{
    struct esp_err err;
    struct esp_builder *b = NULL;
    struct esp_platform *p = NULL;
    struct espi_rng rng;
    espi_rng_seed(&rng, 1);
    stop_if(esp_builder_create(&b, &err), &err);
    for (int i = 0; i < nodes; i++) {
        char name[32];
        snprintf(name, sizeof name, "node%d", i);
        struct esp_node_spec spec = {
            .name = name, .send_s = ESP_UNSET, .recv_s = ESP_UNSET};
        stop_if(esp_builder_add_node(b, &spec, NULL, &err), &err);
    }
    int stride = 1;
    for (int i = 0; i < links; i++) {
        if (i > 0 && i % nodes == 0)
            stride +=
                1 + (int)espi_rng_below(&rng, (uint32_t)(nodes / (links / nodes + 2)));
        int from = i % nodes, to = (from + stride) % nodes;
        double latency_s = espi_rng_log_range(&rng, 1e-5, 1e-2);
        double bandwidth_Bps = espi_rng_log_range(&rng, 1e6, 1e9);
        stop_if(esp_builder_add_link(b, from, to, latency_s, bandwidth_Bps, NULL, &err),
                &err);
    }
    stop_if(esp_builder_build(b, &p, &err), &err);
    esp_builder_free(b);
    return p;
}

/* The program stands beside the folder of the benchmarks. */
static void find_program(char *out, size_t size)
{
    char self[4000];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0)
        stop("cannot find the program");
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    snprintf(out, size, "%s/../espalier", self);
}

/* Runs `espalier info --json PATH` and waits for it. */
static void run_info(const char *path, struct result *r)
{
    char program[4096];
    find_program(program, sizeof program);
    double began_s = now_s();
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        execl(program, "espalier", "info", "--json", path, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        stop("cannot run a child process");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        stop("`espalier info` failed");
    r->info_s = now_s() - began_s;
    r->info_cpu_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    r->peak_bytes = 1024.0 * (double)usage.ru_maxrss;
}

static struct result measure(int nodes, int links)
{
    struct result r;
    struct esp_err err;
    struct stat info;
    char path[] = "/tmp/bench_load.XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0)
        stop("cannot make a file in /tmp");
    close(fd);
    struct esp_platform *p = make_platform(nodes, links);
    double began_s = now_s();
    stop_if(esp_platform_write(p, path, &err), &err);
    r.write_s = now_s() - began_s;
    esp_platform_free(p);
    r.file_bytes = stat(path, &info) ? 0 : (double)info.st_size;
    run_info(path, &r);
    unlink(path);
    return r;
}

int main(int argc, char **argv)
{
    int json = argc > 1 && !strcmp(argv[1], "--json");
    char **size = argv + 1 + json;
    int nodes = 100000, links = 1000000;
    if (argc == 3 + json) {
        nodes = atoi(size[0]);
        links = atoi(size[1]);
    }
    if (nodes < 4 || links < nodes || links / nodes > nodes / 4) {
        fprintf(stderr,
                "usage: bench_load [--json] [NODES LINKS], with NODES <= LINKS\n");
        return 2;
    }
    struct result r = measure(nodes, links);
    if (json)
        printf("{\"nodes\": %d, \"links\": %d, \"file_bytes\": %.0f, \"write_s\": %.3f, "
               "\"info_s\": %.3f, \"info_cpu_s\": %.3f, \"info_peak_bytes\": %.0f}\n",
               nodes, links, r.file_bytes, r.write_s, r.info_s, r.info_cpu_s,
               r.peak_bytes);
    else
        printf("%10s %10s %10s %10s %10s %10s %10s\n%10d %10d %7.1f MB %8.2f s %8.2f s "
               "%8.2f s "
               "%7.1f MB\n",
               "nodes", "links", "file", "write", "info", "info CPU", "info peak", nodes,
               links, r.file_bytes / 1e6, r.write_s, r.info_s, r.info_cpu_s,
               r.peak_bytes / 1e6);
    return 0;
}

/* Command lines of launchers: what they are taken for, and what becomes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "cli/launching/launcher.h"
#include "support/alloc_fail.h"

enum { WORDS = 64 };

struct words {
    char text[1024];
    const char *word[WORDS];
    int n;
};

static void split(struct words *w, const char *line)
{
    w->n = 0;
    snprintf(w->text, sizeof w->text, "%s", line);
    for (char *at = strtok(w->text, " "); at; at = strtok(NULL, " "))
        w->word[w->n++] = at;
}

static const char *list, *slurm, *preloaded;

static char *get(const char *name)
{
    const char *value = strcmp(name, "OMPI_MCA_mca_base_env_list") == 0 ? list
                        : strcmp(name, "SLURM_EXPORT_ENV") == 0         ? slurm
                        : strcmp(name, "LD_PRELOAD") == 0               ? preloaded
                                                                        : NULL;
    return (char *)(uintptr_t)value;
}

static const struct cli_variable variables[] = {{"M", "off"}, {"H", "p0,p1"}};
static const struct cli_handover handover = {"S", "S:old", variables, 2};

/* What the line becomes, words parted by spaces. */
static void expect(int mpi, const char *line, const char *wanted)
{
    struct words w;
    struct cli_launch l;
    struct espi_arena arena;
    char got[4096] = "";
    split(&w, line);
    espi_arena_init(&arena);
    cli_launch_read(&l, w.n, w.word, mpi, get);
    const char **words = cli_launch_line(&l, &handover, get, &arena);
    assert_non_null(words);
    for (int i = 0; words[i]; i++) {
        size_t at = strlen(got);
        snprintf(got + at, sizeof got - at, "%s%s", i ? " " : "", words[i]);
    }
    assert_string_equal(got, wanted);
    espi_arena_done(&arena);
}

#define X "-x LD_PRELOAD=S:old -x M -x H"

static void open_mpi_gets_options_for_each_program(void **state)
{
    (void)state;
    expect(CLI_OPENMPI, "mpirun -n 1 ./a", "mpirun " X " -n 1 ./a");
    expect(CLI_OPENMPI, "mpirun -n 1 ./a : -n 1 ./b x : ./c",
           "mpirun " X " -n 1 ./a : " X " -n 1 ./b x : " X " ./c");
    expect(CLI_OPENMPI, "/opt/bin/mpiexec -n 1 ./a : : ./b :",
           "/opt/bin/mpiexec " X " -n 1 ./a : : " X " ./b :");
    expect(CLI_MPICH, "orterun ./a", "orterun " X " ./a"); /* its name says more */
    expect(CLI_OPENMPI, "mpirun", "mpirun");
}

static void what_the_user_preloads_stays(void **state)
{
    (void)state;
    expect(CLI_OPENMPI, "mpirun -n 1 ./a : -x LD_PRELOAD=q -n 1 ./b",
           "mpirun " X " -n 1 ./a : " X " -x LD_PRELOAD=S:q -n 1 ./b");
    expect(CLI_OPENMPI, "prun --x LD_PRELOAD --mca a b ./a -x LD_PRELOAD=q",
           "prun " X " --x LD_PRELOAD=S:old --mca a b ./a -x LD_PRELOAD=q");
    expect(CLI_MPICH,
           "mpirun -env LD_PRELOAD q ./a : -genv LD_PRELOAD=r ./b LD_PRELOAD q",
           "mpirun -genv LD_PRELOAD S:old -genv M off -genv H p0,p1 -env LD_PRELOAD S:q "
           "./a : -genv LD_PRELOAD=S:r ./b LD_PRELOAD q");
    expect(CLI_OPENMPI, "srun --export=A,LD_PRELOAD=q,B ./a",
           "srun --export=A,B,LD_PRELOAD=S:q,M,H ./a");
}

/* With a list Open MPI refuses -x. */
static void lists_of_open_mpi_are_made_longer(void **state)
{
    (void)state;
    expect(CLI_OPENMPI, "mpirun -mca mca_base_env_list A=1;B ./a : ./b",
           "mpirun -mca mca_base_env_list A=1;B;LD_PRELOAD=S:old;M;H ./a : ./b");
    list = "C";
    expect(CLI_OPENMPI, "mpirun ./a : ./b",
           "mpirun -mca mca_base_env_list C;LD_PRELOAD=S:old;M;H ./a : ./b");
    list = NULL;
    expect(CLI_OPENMPI, "mpirun --app file", "mpirun --app file"); /* takes no options */
    expect(CLI_OPENMPI, "mpirun ./a --app file", "mpirun " X " ./a --app file");
}

static void slurm_exports(void **state)
{
    (void)state;
    expect(CLI_MPICH, "srun -n 4 ./a", "srun --export=ALL,LD_PRELOAD=S:old -n 4 ./a");
    expect(CLI_MPICH, "srun -n4 --export NONE ./a",
           "srun -n4 --export LD_PRELOAD=S:old,M,H ./a");
    expect(CLI_MPICH, "srun --het-group=0 ./a : --het-group 1 --export=Z,ALL ./b",
           "srun --export=ALL,LD_PRELOAD=S:old --het-group=0 ./a : --het-group 1 "
           "--export=Z,ALL,LD_PRELOAD=S:old ./b");
    expect(CLI_MPICH, "srun -c 2 ./a --export=Q",
           "srun --export=ALL,LD_PRELOAD=S:old -c 2 ./a --export=Q");
    slurm = "NONE";
    expect(CLI_MPICH, "srun ./a", "srun --export=LD_PRELOAD=S:old,M,H ./a");
    slurm = NULL;
    preloaded = "old"; /* which srun would give its ranks instead */
    expect(CLI_MPICH, "timeout 9 srun ./a",
           "timeout 9 env -u LD_PRELOAD srun --export=ALL,LD_PRELOAD=S:old ./a");
    expect(CLI_OPENMPI, "mpirun ./a", "mpirun " X " ./a");
    preloaded = NULL;
    expect(CLI_MPICH, "env LD_PRELOAD=old srun ./a",
           "env LD_PRELOAD=old env -u LD_PRELOAD srun --export=ALL,LD_PRELOAD=S:old ./a");
}

#define FULL_X "-x LD_PRELOAD=S:old -x M=off -x H=p0,p1"

/* Behind programs that may change the environment values go along. */
static void launchers_are_found_behind_others(void **state)
{
    static const char *const fronts[] = {"env",
                                         "env -i A=1 B=/x",
                                         "/usr/bin/env -u A --chdir /x -C /y",
                                         "timeout 10",
                                         "timeout -vk 5 --signal INT 1m",
                                         "nice",
                                         "nice -n 5",
                                         "nice -5",
                                         "time -o file -v",
                                         "taskset -c 0,1",
                                         "taskset 0x3",
                                         "stdbuf -oL -e 0",
                                         "ionice -c 2 -n 7",
                                         "chrt -r 5",
                                         "numactl -N 0 --membind=0",
                                         "setsid -w",
                                         "nohup env A=1 timeout -k 5 -- 10 nice",
                                         "ip netns exec blue"};
    (void)state;
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++) {
        char line[200], wanted[300];
        snprintf(line, sizeof line, "%s mpirun -n 1 ./a : ./b", fronts[i]);
        snprintf(wanted, sizeof wanted, "%s mpirun " FULL_X " -n 1 ./a : " FULL_X " ./b",
                 fronts[i]);
        expect(CLI_OPENMPI, line, wanted);
    }
}

static void what_is_not_known_stays_as_it_is(void **state)
{
    static const char *const lines[] = {"./a",
                                        "./a : mpirun ./b",
                                        "mpirun_rsh -np 2 ./a",
                                        "aprun -n 2 ./a",
                                        "timeout 10",
                                        "env -u",
                                        "timeout",
                                        "env -S mpirun",
                                        "strace mpirun ./a",
                                        ":",
                                        "nice -n"};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (int mpi = 0; mpi < CLI_MPIS; mpi++)
            expect(mpi, lines[i], lines[i]);
}

static void values_are_those_of_the_launcher(void **state)
{
    struct words w;
    struct cli_launch l;
    (void)state;
    list = "C";
    split(&w, "env A=1 A=2 OMPI_MCA_mca_base_env_list=D mpirun B=3 ./a");
    cli_launch_read(&l, w.n, w.word, CLI_OPENMPI, get);
    assert_string_equal(cli_launch_value(&l, "A", get), "2");
    assert_string_equal(cli_launch_value(&l, "OMPI_MCA_mca_base_env_list", get), "D");
    assert_null(cli_launch_value(&l, "B", get));
    assert_int_equal(l.way, CLI_WAY_LIST);
    list = NULL;
}

static void launchers_tell_their_mpi(void **state)
{
    (void)state;
    assert_int_equal(cli_launcher_mpi("/x/mpirun.openmpi"), CLI_OPENMPI);
    assert_int_equal(cli_launcher_mpi("prterun"), CLI_OPENMPI);
    assert_int_equal(cli_launcher_mpi("mpiexec.hydra"), CLI_MPICH);
    assert_int_equal(cli_launcher_mpi("/no/such/mpirun"), -1);
    assert_int_equal(cli_launcher_mpi(""), -1);
}

static esp_status make_line(void *arg)
{
    struct espi_arena arena;
    espi_arena_init(&arena);
    const char **line = cli_launch_line(arg, &handover, get, &arena);
    espi_arena_done(&arena);
    return line ? ESP_OK : ESP_ENOMEM;
}

static void memory_may_run_out(void **state)
{
    struct words w;
    struct cli_launch l;
    (void)state;
    split(&w, "env A=1 mpirun -x LD_PRELOAD=q ./a : ./b");
    cli_launch_read(&l, w.n, w.word, CLI_OPENMPI, get);
    assert_true(alloc_fail_each(make_line, &l) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_mpi_gets_options_for_each_program),
        cmocka_unit_test(what_the_user_preloads_stays),
        cmocka_unit_test(lists_of_open_mpi_are_made_longer),
        cmocka_unit_test(slurm_exports),
        cmocka_unit_test(launchers_are_found_behind_others),
        cmocka_unit_test(what_is_not_known_stays_as_it_is),
        cmocka_unit_test(values_are_those_of_the_launcher),
        cmocka_unit_test(launchers_tell_their_mpi),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

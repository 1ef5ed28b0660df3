/* espalier agent: what `espalier cp` starts on each host. */
#include <sys/resource.h>
#include <unistd.h>

#include "cli/command.h"
#include "copy/agent.h"

/* Each stream is a connection. */
static void raise_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int run_agent(const struct cli_args *args)
{
    struct espi_agent_options options = {.below = cli_text(args, "below")};

    if (isatty(STDIN_FILENO))
        return cli_error(CLI_BAD_USAGE,
                         "an agent is started by 'espalier cp', and told what to do "
                         "over its standard input");
    raise_descriptors();
    return espi_agent_serve(STDIN_FILENO, STDOUT_FILENO, &options) ? CLI_FAILED : CLI_OK;
}

const struct command cli_command_agent = {
    .name = "agent",
    .group = CLI_GROUP_RUN,
    .summary = "serve a copy on a host; started by 'espalier cp'",
    .about =
        (const char *const[]){
            "Started on each host by the launcher of 'espalier cp'. It gets keys, plans "
            "and names of files over its standard input, opens a port for as long as it "
            "lives, connects to the hosts that the plan names and to no others, and ends "
            "with its input. Nothing is written outside of the folder of the copy.",
            NULL},
    .options =
        (const struct cli_option[]){
            {.name = "below",
             .kind = CLI_FILE,
             .value = "FOLDER",
             .help = "Never write outside of this folder, whatever the copy asks for, "
                     "and take its folder as one below it. For forced commands of ssh."},
            {0}},
    .examples =
        (const struct cli_example[]){
            {"In a line of ~/.ssh/authorized_keys: this key may copy to /scratch, and "
             "nothing else:",
             "command=\"espalier agent --below /scratch\",restrict ssh-ed25519 AAAA..."},
            {0}},
    .see = (const char *const[]){"cp", NULL},
    .no_json = true,
    .run = run_agent,
};

# A Slurm of one's own on a testbed: slurmctld in the namespace where launchers run, a
# slurmd in that of each host, and the munged by which they know one another. Sourced by
# who has set
#   build  the folder of the build          work  an empty folder for all that is written
#   name   of the testbed                   grid  the platform to make it of
# Each node has a folder tmp in the work folder that no other sees; all else they share.
# All processes are those that this starts, and are ended by their numbers.

# Why there can be none here; nothing where there can.
cluster_missing()
{
    local tool
    [ "$(id -u)" = 0 ] || { echo "only root may make network namespaces"; return; }
    unshare --net true 2>/dev/null || { echo "network namespaces are not allowed here"; return; }
    for tool in ip tc munged slurmctld slurmd srun sbatch; do
        PATH=$PATH:/usr/sbin command -v $tool >/dev/null || {
            echo "there is no $tool(8); tools/setup check installs Slurm"
            return
        }
    done
}

# wait_until SECONDS WHAT COMMAND...: asks again and again.
wait_until()
{
    local tries=$(($1 * 10)) what=$2
    shift 2
    while ! "$@" >"$work/asked" 2>&1; do
        ((tries-- > 0)) || {
            echo "$what: not in time; the last answer:"
            tail -n 20 "$work/asked"
            return 1
        }
        sleep 0.1
    done
}

write_config()
{
    local i=0 node
    {
        cat <<END
ClusterName=$name
SlurmctldHost=$(hostname -s)(10.76.240.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$work/munge/socket
StateSaveLocation=$work/state
SlurmctldPidFile=$work/slurmctld.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdSpoolDir=$work/spool-%n
SlurmdPidFile=$work/slurmd-%n.pid
SlurmdLogFile=$work/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TmpFS=$work/tmp
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
SelectType=select/linear
TopologyPlugin=topology/tree
ReturnToService=2
SlurmdParameters=config_overrides
KillWait=5
END
        for node in "${nodes[@]}"; do
            echo "NodeName=$node NodeAddr=10.76.0.$((++i)) CPUs=4 RealMemory=100"
        done
        echo "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP"
    } >"$work/slurm.conf"
    echo "CgroupAutomount=no" >"$work/cgroup.conf"
}

# The hosts of each site hang on a switch, these on one: as the platform has it.
write_topology()
{
    sed -n 's/.*"name": "\([^"]*\)", "site": "\([^"]*\)"}.*/\2 \1/p' "$grid" |
        awk '{ hosts[$1] = hosts[$1] sep[$1] $2; sep[$1] = "," }
            END {
                for (site in hosts) {
                    print "SwitchName=" site " Nodes=" hosts[site] " LinkSpeed=400"
                    all = all comma site
                    comma = ","
                }
                print "SwitchName=top Switches=" all " LinkSpeed=80"
            }' >"$work/topology.conf"
}

started=()
start() # LOG COMMAND...: for as long as the cluster is up
{
    local log=$work/$1
    shift
    "$@" >"$log" 2>&1 </dev/null &
    started+=($!)
}

# A command as a user of the cluster types it.
at_login()
{
    ip netns exec "esp-$name-control" env SLURM_CONF="$work/slurm.conf" "$@"
}

all_idle()
{
    at_login sinfo -h -N -o '%T' >"$work/states" && cat "$work/states" &&
        [ "$(grep -cx idle "$work/states")" = ${#nodes[@]} ]
}

cluster_up()
{
    local node
    mapfile -t nodes < <(sed -n 's/.*"name": "\([^"]*\)", "site".*/\1/p' "$grid")
    chmod 755 "$work"
    mkdir -p "$work/munge" "$work/state" "$work/tmp"
    "$build/espalier" testbed up --name "$name" "$grid" >/dev/null || return
    write_config
    write_topology
    head -c 1024 /dev/urandom >"$work/munge/key"
    chmod 600 "$work/munge/key"
    start munged.log munged -F --force -S "$work/munge/socket" --key-file "$work/munge/key" \
        --pid-file "$work/munge/pid" --seed-file "$work/munge/seed" --log-file "$work/munge/log"
    wait_until 20 "munged" munge -n -S "$work/munge/socket" || return
    start slurmctld.out at_login slurmctld -D -f "$work/slurm.conf"
    for node in "${nodes[@]}"; do
        mkdir -p "$work/spool-$node"
        start "slurmd-$node.out" "$build/espalier" testbed exec --name "$name" "$node" -- \
            unshare --mount --propagation private sh -c \
            'mount -t tmpfs none "$0/tmp" && exec env SLURM_CONF="$0/slurm.conf" slurmd -D -f "$0/slurm.conf"' \
            "$work"
    done
    wait_until 60 "slurmctld and slurmd" all_idle
}

cluster_down()
{
    at_login scancel --state=RUNNING -u root >/dev/null 2>&1
    kill "${started[@]}" 2>/dev/null
    "$build/espalier" testbed down --name "$name" >/dev/null 2>&1
    kill -9 "${started[@]}" 2>/dev/null
    wait "${started[@]}" 2>/dev/null
}

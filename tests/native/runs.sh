# shellcheck shell=bash
# Runs of calls under the recorder, compared with the scripts. Set before: mpi, preload,
# calls, expect and work.
# shellcheck disable=SC2154
bad=0 good=0
# What the next launch is to do: questions of one operation each, and settings.
asked=()
declare -A settings=()

run_openmpi() # ranks settings... -- arguments
{
    local n=$1 set=()
    shift
    while [ "$1" != -- ]; do
        set+=(--mca "${1%%=*}" "${1#*=}")
        shift
    done
    shift
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TMPDIR=$work timeout 300 \
        mpirun.openmpi --oversubscribe --bind-to none -n "$n" --mca pml ucx \
        --mca opal_common_ucx_tls any --mca opal_common_ucx_devices any \
        --mca mpi_yield_when_idle 1 --mca btl_base_warn_component_unused 0 \
        --mca coll ^han,adapt,sm,monitoring,hcoll \
        -x LD_PRELOAD="$preload" -x UCX_TLS=tcp,self ${set[@]+"${set[@]}"} "$calls" "$@"
}

# Each rank as if on a host of its own.
run_mpich()
{
    local n=$1 set=()
    shift
    while [ "$1" != -- ]; do
        set+=(-genv "${1%%=*}" "${1#*=}")
        shift
    done
    shift
    timeout 300 mpiexec.mpich -n "$n" -genv LD_PRELOAD "$preload" \
        -genv UCX_TLS tcp,self -genv MPIR_CVAR_NOLOCAL 1 ${set[@]+"${set[@]}"} "$calls" "$@"
}

# ask OPERATION ALGORITHM SEGMENT FANOUT SIZES SETTINGS...
# At most once for an operation, whose settings leave the other operations alone.
ask()
{
    local setting
    asked+=("$1 $2 $3 $4 $5")
    for setting in "${@:6}"; do
        settings[${setting%%=*}]=${setting#*=}
    done
}

# answer RANKS: makes all calls that were asked for in one launch, for it is launching that
# takes the time, and compares each operation.
answer()
{
    local n=$1 question op algorithm segment fanout sizes name words=() set=() ran=1
    for question in "${asked[@]}"; do
        read -r op algorithm segment fanout sizes <<<"$question"
        # shellcheck disable=SC2206
        words+=(+ "$op" $sizes)
    done
    for name in "${!settings[@]}"; do
        set+=("$name=${settings[$name]}")
    done
    rm -f "$work"/out.*
    "run_$mpi" "$n" ${set[@]+"${set[@]}"} -- "$work/out" "${words[@]:1}" >"$work/log" 2>&1 ||
        ran=0
    for question in "${asked[@]}"; do
        read -r op algorithm segment fanout sizes <<<"$question"
        # shellcheck disable=SC2086
        if [ $ran = 1 ] && "$expect" "$work/out.$op" "$mpi" "$op" "$algorithm" "$n" \
            "$segment" "$fanout" $sizes >>"$work/log" 2>&1; then
            good=$((good + 1))
        else
            echo "$mpi $op $algorithm with $n ranks: not as the library does it"
            bad=1
        fi
    done
    [ $bad = 0 ] || tail -5 "$work/log"
    asked=()
    settings=()
}

# Only what is sent by UCX can be recorded.
check_ucx()
{
    case $mpi in
        openmpi) ompi_info 2>/dev/null | grep -q 'MCA pml: ucx' ;;
        mpich) ldd "$calls" | grep -q libucp ;;
    esac || { echo "this $mpi does not send by UCX: nothing can be recorded"; exit 77; }
}

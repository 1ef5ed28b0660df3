# shellcheck shell=bash
# Runs of calls under the recorder, compared with the scripts. Set before: mpi, preload,
# calls, expect and work.
# shellcheck disable=SC2154
bad=0 good=0

run_openmpi() # ranks settings... -- arguments
{
    local n=$1 set=()
    shift
    while [ "$1" != -- ]; do
        set+=(--mca "${1%%=*}" "${1#*=}")
        shift
    done
    shift
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TMPDIR=$work timeout 100 \
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
    timeout 100 mpiexec.mpich -n "$n" -genv LD_PRELOAD "$preload" \
        -genv UCX_TLS tcp,self -genv MPIR_CVAR_NOLOCAL 1 ${set[@]+"${set[@]}"} "$calls" "$@"
}

# try RANKS OPERATION ALGORITHM SEGMENT FANOUT SIZES SETTINGS...
try()
{
    local n=$1 op=$2 algorithm=$3 segment=$4 fanout=$5 sizes=$6
    shift 6
    rm -f "$work"/out.*
    # shellcheck disable=SC2086
    if "run_$mpi" "$n" "$@" -- "$work/out" "$op" $sizes >"$work/log" 2>&1 &&
        "$expect" "$work/out" "$mpi" "$op" "$algorithm" "$n" "$segment" "$fanout" $sizes; then
        good=$((good + 1))
    else
        echo "$mpi $op $algorithm with $n ranks: not as the library does it"
        tail -5 "$work/log"
        bad=1
    fi
}

# Only what is sent by UCX can be recorded.
check_ucx()
{
    case $mpi in
        openmpi) ompi_info 2>/dev/null | grep -q 'MCA pml: ucx' ;;
        mpich) ldd "$calls" | grep -q libucp ;;
    esac || { echo "this $mpi does not send by UCX: nothing can be recorded"; exit 77; }
}

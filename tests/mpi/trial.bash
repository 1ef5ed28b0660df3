# What the scripts share that run a job under the shim which goes wrong on demand.
mpi=$1 shim=$2 program=$3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl=self,vader OMPI_MCA_mpi_yield_when_idle=1
. "$(dirname "$0")/sanitizer.bash"
case $mpi in
openmpi) launch=(mpirun.openmpi --oversubscribe --bind-to none
    -x "LD_PRELOAD=${SANITIZER:+$SANITIZER:}$shim") ;;
mpich)
    polite=$(dirname "$program")/libmpi_polite.so
    [ ! -e "$polite" ] || shim=$polite:$shim
    shim=${SANITIZER:+$SANITIZER:}$shim
    launch=(mpiexec.mpich -genv LD_PRELOAD "$shim") ;;
*) echo "no MPI named $mpi" >&2 && exit 2 ;;
esac
bad=0

# run_trial RANKS VARIABLE=VALUE...: into $tmp/out and $tmp/err; $status.
run_trial() {
    local ranks=$1 setting words=()
    shift
    for setting; do
        if [ "$mpi" = openmpi ]; then
            words+=(-x "$setting")
        else
            words+=(-genv "${setting%%=*}" "${setting#*=}")
        fi
    done
    timeout -k 5 "${TRIAL_S:-40}" "${launch[@]}" "${words[@]}" -n "$ranks" "$program" \
        >"$tmp/out" 2>"$tmp/err"
    status=$?
}

complain() {
    echo "$mpi: $*, exit status $status"
    head -c 2000 "$tmp/out" "$tmp/err"
    bad=1
}

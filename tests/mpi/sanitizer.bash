# How sanitizers behave under MPI, whose libraries lose memory, and synchronise threads by
# means that no sanitizer knows: what these call is not looked at.
SANITIZER=${SANITIZER:-}
if [ -n "$SANITIZER" ]; then
    export ASAN_OPTIONS=detect_leaks=0:abort_on_error=0:exitcode=77
    export UCX_MEM_EVENTS=n # it would write into the functions that sanitizers stand before
    export UBSAN_OPTIONS=print_stacktrace=1
    export TSAN_OPTIONS=ignore_noninstrumented_modules=1:exitcode=77:history_size=4
fi

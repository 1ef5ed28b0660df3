# For checks that look at the C files of a build one by one; to be sourced.

# compiled_files BUILD FOLDER...
# Files that the build does not compile (parts left out) have no flags to check them with.
compiled_files()
{
    local commands=$1/compile_commands.json folder files
    shift
    for folder; do
        files=$(awk -F '"' -v root="$PWD/" -v folder="$folder/" '
            $2 == "file" && index($4, root folder) == 1 && /\.c"/ {
            print substr($4, length(root) + 1) }' "$commands" | LC_ALL=C sort -u)
        [ -n "$files" ] || { echo "$commands names no file of $PWD/$folder" >&2; return 1; }
        echo "$files"
    done
}

# headers_of FOLDER...: the hash of each
headers_of()
{
    find "$@" \( -name '*.h' -o -name '*.def' \) -print0 | LC_ALL=C sort -z |
        xargs -0 sha256sum
}

# each_changed MARKS STATE CHECK: runs the function CHECK on each file that stdin names, many
# at once. What passed once is not looked at again until it or STATE changes: the marks of
# passed files are kept in the folder MARKS.
each_changed()
{
    export marks=$1 state=$2 check=$3
    mkdir -p "$marks"
    export -f check_one "${check?}"
    xargs -n 1 -P "$(nproc)" bash -c 'check_one "$1"' _
}

check_one()
{
    local mark out
    mark=$marks/$({ echo "$state $1"; cat "$1"; } | sha256sum | cut -d' ' -f1)
    [ ! -e "$mark" ] || return 0
    if out=$("$check" "$1" 2>&1); then
        : >"$mark"
    else
        printf '%s\n' "$out"
        return 1
    fi
}

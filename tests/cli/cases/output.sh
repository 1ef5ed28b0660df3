espalier generate random -o /dev/full

espalier generate random > /dev/full

espalier info --help > /dev/full

espalier generate random | espalier info - --json > /dev/full

espalier generate random >&-

espalier version >&-

espalier info - <&-

espalier generate complete --nodes 100 -o /dev/null

espalier generate complete --nodes 300 | head -c 1; echo "${PIPESTATUS[0]}"

# Where SIGPIPE is ignored, too, a reader that has seen enough is no news.
trap '' PIPE; espalier generate complete --nodes 300 | head -c 1

espalier nothing 2>&-

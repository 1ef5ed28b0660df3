# On a terminal: colour, unless NO_COLOR is set, and a sign of life after a second.
command -v script > /dev/null && echo there
mkfifo slow
cat > on_terminal << 'END'
TERM=xterm script -qec "$1" /dev/null < /dev/null
END

bash on_terminal 'espalier version --help' | grep -c $'\033\[1mOptions\033\[0m'

NO_COLOR=1 bash on_terminal 'espalier version --help' | grep -c $'\033'

bash on_terminal 'TERM=dumb espalier version --help' | grep -c $'\033'

{ sleep 1.5; espalier generate hnow; } > slow & bash on_terminal 'espalier info slow' | grep -o 'reading slow, 1 s' | sort -u; wait

{ sleep 1.5; espalier generate hnow; } > slow & espalier info slow 2>&1 > /dev/null; wait

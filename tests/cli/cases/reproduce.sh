espalier reproduce --help

espalier reproduce --list

espalier reproduce fig99

espalier reproduce --quick table3 -o report | head -4; ls report

espalier reproduce --quick alltoall-fig4 -o report | head -6

touch file; espalier reproduce --quick table3 -o file

espalier reproduce --quick --full

# another seed draws other networks, for every figure, and the same ones again
for s in 0 1 again; do espalier reproduce --quick table3 --seed ${s/again/1} --json -o report 2> /dev/null | grep ours > claims.$s; done; cmp -s claims.0 claims.1 || echo other; cmp claims.1 claims.again && echo same

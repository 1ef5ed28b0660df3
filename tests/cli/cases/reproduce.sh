espalier reproduce --help

espalier reproduce --list

espalier reproduce fig99

espalier reproduce --quick table3 -o report | head -4; ls report

espalier reproduce --quick alltoall-fig4 -o report | head -6

touch file; espalier reproduce --quick table3 -o file

espalier reproduce --quick --full

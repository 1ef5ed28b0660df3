espalier reproduce --help

espalier reproduce --list

espalier reproduce fig99

espalier reproduce --quick table3 -o report | head -4; ls report

touch file; espalier reproduce --quick table3 -o file

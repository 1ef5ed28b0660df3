espalier measure --help

espalier measure

espalier measure -- ./app

espalier measure --budget 0 -- mpirun.openmpi

espalier measure --samples missing.txt -o p.json

espalier measure --samples $DATA/samples.txt -o p.json

espalier info p.json | head -9

espalier bound p.json --root n0 | grep throughput

espalier measure --samples $DATA/samples.txt --json | tail -12

espalier measure --samples $DATA/samples.txt | head -8

printf 'espalier-samples/1\nhost a 1\nhost b 1\nrate 0 0 2 5\n' > bad.txt; espalier measure --samples bad.txt -o p.json

printf 'espalier-samples/1\nhost a 1\nhost b 1\nlatency 0 0 1 0.001\n' > poor.txt; espalier measure --samples poor.txt -o q.json; ls q.json

espalier measure --check p.json

espalier measure --check p.json --update p.json -- mpirun.openmpi

espalier measure --check missing.json -- mpirun.openmpi

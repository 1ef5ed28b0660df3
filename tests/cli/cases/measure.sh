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

# one host is a network of one node, which is said with what to do
printf 'espalier-samples/1\nhost a 4\n' > one.txt; espalier measure --samples one.txt -o one.json > out; tail -1 out

espalier measure --check p.json

espalier measure --check p.json --update p.json -- mpirun.openmpi

espalier measure --check missing.json -- mpirun.openmpi

printf '{"format":"espalier-platform/1","name":"sure","model":"capacity","measured":{"rounds":16,"disturbed":4,"transfers":80,"off_median":0.04,"off_95":0.2},"nodes":[{"name":"a"},{"name":"b"},{"name":"c"}],"links":[{"from":"a","to":"b","bandwidth_Bps":10,"duplex":true},{"from":"a","to":"c","bandwidth_Bps":10}],"shared":[{"name":"a:out","bandwidth_Bps":10,"low_Bps":8,"high_Bps":11,"confidence":0.9,"links":[["a","b"],["a","c"]]},{"name":"b:out","bandwidth_Bps":10,"low_Bps":9,"confidence":0.5,"links":[["b","a"]]}]}' > sure.json; espalier info sure.json | grep -A9 'sure\|Shared'

espalier bound sure.json --root a | grep 'throughput\|sure'

espalier import sure.json -o copy.json; espalier info --json copy.json | grep -A6 '"measured"\|"high_Bps"'

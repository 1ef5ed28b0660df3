# platform NODES LINKS: the file of a platform
cat > platform << 'END'
printf '{"format": "espalier-platform/1", "nodes": [%s], "links": [%s]}\n' "$1" "$2"
END
cat > ab << 'END'
bash platform '{"name": "a"}, {"name": "b"}' "$1"
END

bash ab '{"from": "a", "to": "b", "latency_s": 0, "bandwidth_Bps": 1}' | espalier info - | sed -n 4p

espalier info missing.json

espalier info .

espalier info /dev/null

espalier import missing.json -o out.json

echo '{"format": "espalier-platform/1", "nodes": [' > cut.json; espalier info cut.json

echo '{"format": "espalier-platform/1", "nodes": 7, "links": []}' | espalier info -

echo '{"format": "espalier-platform/2", "nodes": [], "links": []}' | espalier info -

echo '[1, 2]' | espalier info -

bash ab '{"from": "a", "to": "b", "latency_s": 0, "bandwidth_Bps": NaN}' | espalier info -

bash ab '{"from": "a", "to": "b", "latency_s": 0, "bandwidth_Bps": "nan"}' | espalier info -

bash ab '{"from": "a", "to": "b", "latency_s": 0, "bandwidth_Bps": 1e999}' | espalier info -

bash ab '{"from": "a", "to": "b", "latency_s": 0, "bandwidth_Bps": 0}' | espalier info -

bash ab '{"from": "a", "to": "b", "latency_s": 0, "bandwidth_Bps": -5}' | espalier info -

bash ab '{"from": "a", "to": "b", "latency_s": -1, "bandwidth_Bps": 5}' | espalier info -

bash ab '{"from": "a", "to": "b", "latency_s": "5 furlongs", "bandwidth_Bps": 5}' | espalier info -

bash ab '{"from": "a", "to": "c", "latency_s": 0, "bandwidth_Bps": 5}' | espalier info -

bash ab '{"from": "a", "to": "a", "latency_s": 0, "bandwidth_Bps": 5}' | espalier info -

bash ab '{"from": "a", "to": "b", "latency_s": 0}' | espalier info -

bash platform '{"name": "a"}, {"name": "a"}' | espalier info -

bash platform '{"name": ""}' | espalier info -

bash platform '{"name": "a\u001b[31m"}, {"name": "a\u001b[31m"}' | espalier info -

bash ab | espalier info - --root a

# Nothing is written, and what was there stays.
echo before > out.json; espalier import cut.json -o out.json

cat out.json; ls

# What is no text is nobody's format, whatever commas it has.
printf '\001\002,\377\376,;\000x\n,\003' > bytes; espalier info bytes

printf 'a b 1Gbps\nb a 1Gbps\n' > twice.edges; espalier import twice.edges --undirected

printf '{"format":"espalier-platform/1","model":"one-port","nodes":[{"name":"a"}]}' > one.json; espalier import one.json --link-speed 10Gbps

espalier compare one.json --csv --json

espalier sweep --csv --json -- mpirun

espalier cp one.json --to h1

espalier cp one.json --to h1:/tmp --rsh no-such-program

espalier cp - one.json --to h1:/tmp

espalier cp one.json --to h1:/tmp --plan-only

espalier sweep -o sweep.png -- mpirun

printf '<graphml>' > cut.graphml; espalier import cut.graphml

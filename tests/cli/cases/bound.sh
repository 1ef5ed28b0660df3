mask() { sed -E 's/(solving  ) .*/\1 TIME/; s/("solve_s": ).*,/\1TIME,/; s/("gap": ).*,/\1GAP,/; s/(_Bps": [0-9]{6}|_per_s": [0-9.]{6})[0-9.]+/\1/; s/("price": 0\.[0-9]{4})[0-9]+/\1/'; }
espalier generate tiers --preset 30 --seed 1 -o p.json
declare -f mask > mask.sh

. ./mask.sh; espalier bound p.json --root w3 | mask

. ./mask.sh; espalier bound p.json --root w3 --json | mask

for method in trees cuts full; do espalier bound p.json --root w3 --method $method | grep throughput; done

espalier bound p.json --root w3 --what-if | sed -n '/^What if/,$p' | head -8

espalier bound p.json --root w3 --what-if --json | grep -c '"gain"'

espalier generate random --nodes 1 | espalier bound - | sed '/solving/d'

espalier generate random --nodes 1 | espalier bound - --json | grep throughput

cat > s.json << 'END'
{ "format": "espalier-platform/1", "name": "star", "model": "capacity",
  "nodes": [ {"name": "r", "kind": "switch"}, {"name": "a"}, {"name": "b"}, {"name": "c"} ],
  "links": [ {"from": "a", "to": "r", "latency_s": 0, "bandwidth_Bps": 4e6, "duplex": true},
             {"from": "b", "to": "r", "latency_s": 0, "bandwidth_Bps": 2e6, "duplex": true},
             {"from": "r", "to": "c", "latency_s": 0, "bandwidth_Bps": 1e6} ] }
END
espalier bound s.json --slice 1kB | sed '/solving/d'

espalier bound s.json --model half-duplex | sed '/solving/d' | head -8

espalier bound s.json --root c

espalier bound s.json --root nobody

espalier bound p.json --method magic

espalier bound p.json --slice 0

espalier bound p.json --gap 2

espalier bound missing.json

# How soon a message can be everywhere.
espalier generate measured --preset chain -o chain.json

espalier bound chain.json --size 1MB | grep -v solving | head -8

espalier bound chain.json --size 1MB --json | grep -e size -e makespan

espalier bound chain.json --size 1MB --op gather

espalier bound chain.json --size 0

# A gap that was asked for is told, and is not exact.
espalier generate random --nodes 40 --seed 3 -o r.json

espalier bound r.json --gap 0.2 --json | grep exact

espalier bound r.json --gap 0.2 | grep reached | sed 's/reached .*less/reached LESS/'

# the same keys for every operation, but a root where there is one
for op in bcast multicast scatter gather allgather reduce allreduce reduce-scatter; do espalier bound p.json --op $op --json | grep -o '^  "[a-z_A-Z]*"' | grep -v root | tr -d ' \n'; echo; done | sort | uniq -c | awk '{ print $1 }'
for op in bcast gather allgather allreduce alltoall; do espalier bound p.json --op $op --json | grep -c '"root"'; done

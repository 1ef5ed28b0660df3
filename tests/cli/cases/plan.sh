mask() { sed -E 's/("((makespan_)?(bound_Bps|bound_s|ratio))": [0-9.]{7})[0-9.]+/\1/; s/(planning  ) .*/\1 TIME/; /"plan_s"/d'; }
espalier generate tiers --preset 30 --seed 1 -o p.json
declare -f mask > mask.sh

. ./mask.sh; espalier plan p.json --root w3 --algo grow -o plan.json | mask

. ./mask.sh; LC_ALL=C.UTF-8 espalier plan p.json --root w3 --algo ecef --slice 0 | mask | head -14

. ./mask.sh; espalier plan p.json --root w3 --algo grow --json | mask > again.json
mask < plan.json | cmp - again.json && mask < plan.json

espalier plan p.json --root w3 --algo grow -o - | grep -c edges

espalier generate tiers --preset 65 | espalier plan - --algo grow | grep -c '|-\|`-'

espalier generate tiers --preset 65 | espalier plan - --algo grow --draw | grep -c '|-\|`-'

. ./mask.sh; cat > s.json << 'END'
{ "format": "espalier-platform/1", "name": "star", "model": "one-port",
  "nodes": [ {"name": "r", "kind": "switch"}, {"name": "a"}, {"name": "b"}, {"name": "c"} ],
  "links": [ {"from": "a", "to": "r", "latency_s": 0, "bandwidth_Bps": 1e6, "duplex": true},
             {"from": "b", "to": "r", "latency_s": 0, "bandwidth_Bps": 1e6, "duplex": true},
             {"from": "r", "to": "c", "latency_s": 0, "bandwidth_Bps": 5e5} ] }
END
espalier plan s.json --algo flat --size 1MB | mask

espalier plan s.json --root c

espalier plan s.json --root r

espalier plan s.json --root nobody

. ./mask.sh; espalier generate random --nodes 1 | espalier plan - --algo flat | mask

printf '{"format": "espalier-platform/1", "nodes": [], "links": []}' | espalier plan -

printf '{"format": "espalier-platform/1", "nodes": [{"name": "r", "kind": "switch"}], "links": []}' | espalier plan -

espalier plan p.json --algo gorw

espalier plan p.json --algo ecef:speed=3

espalier plan p.json --algo look-ahead:variant=mad

espalier plan p.json --algo multiport-grow --model one-port

espalier plan p.json --size 0

espalier plan p.json --size 3x

espalier plan p.json --op scattter

espalier plan missing.json

espalier plan p.json -o missing/plan.json

espalier plan

# No time is in a file: the same request gives the same bytes.
espalier plan p.json --root w3 --algo mtp -o one.json > /dev/null; espalier plan p.json --root w3 --algo mtp -o two.json > /dev/null; cmp one.json two.json && echo same bytes; grep -c plan_s one.json

espalier plan p.json --op allgather --algo all-roots --budget 1us

espalier plan p.json --op multicast --algo two-tree

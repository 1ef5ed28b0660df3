espalier generate tiers --preset 65 --seed 7 | espalier info -

espalier generate tiers --preset 65 --seed 7 | LC_ALL=C.UTF-8 espalier info - | tail -3

espalier generate sites --preset teragrid | espalier info -

espalier generate hnow | espalier info -

espalier generate matrix --nodes 6 --log | espalier info - --model half-duplex

espalier generate random --nodes 1 | espalier info -

cat > p.json << 'END'
{ "format": "espalier-platform/1", "name": "toy", "model": "one-port",
  "nodes": [ {"name": "p0", "site": "lyon", "send_s": 9e-5, "recv_s": 7e-5},
             {"name": "p1"}, {"name": "日本"}, {"name": "r1", "kind": "switch"} ],
  "links": [ {"from": "p0", "to": "r1", "latency_s": "5ms", "bandwidth_Bps": "100Mbps"},
             {"from": "r1", "to": "p1", "latency_s": 1e-4, "bandwidth_Bps": 0.1},
             {"from": "r1", "to": "日本", "latency_s": 0, "bandwidth_Bps": 2e7} ],
  "shared": [ {"name": "wan", "bandwidth_Bps": 5e6, "links": [["p0", "r1"]]} ] }
END

espalier info p.json

espalier info p.json --json

espalier info p.json --root p0 > /dev/null

espalier info p.json --root 0 --json | grep '"root"'

espalier info p.json --root p1

espalier info p.json --root=r1

espalier info p.json --root nobody

espalier info p.json --root ''

espalier info p.json --model twoport

espalier info

espalier info p.json p.json

cat > p.json << 'END'
{ "format": "espalier-platform/1", "model": "capacity",
  "nodes": [ {"name": "a0", "site": "a"}, {"name": "a1", "site": "a"}, {"name": "b0", "site": "b"}, {"name": "a2", "site": "a"},
             {"name": "b1", "site": "b"}, {"name": "b2", "site": "b"},
             {"name": "s", "kind": "switch"}, {"name": "t", "kind": "switch"} ],
  "links": [ {"from": "a0", "to": "s", "latency_s": 1e-4, "bandwidth_Bps": 1e8, "duplex": true},
             {"from": "a1", "to": "s", "latency_s": 1e-4, "bandwidth_Bps": 1e8, "duplex": true},
             {"from": "a2", "to": "s", "latency_s": 1e-4, "bandwidth_Bps": 1e8, "duplex": true},
             {"from": "b0", "to": "t", "latency_s": 1e-4, "bandwidth_Bps": 1e8, "duplex": true},
             {"from": "b1", "to": "t", "latency_s": 1e-4, "bandwidth_Bps": 1e8, "duplex": true},
             {"from": "b2", "to": "t", "latency_s": 1e-4, "bandwidth_Bps": 1e8, "duplex": true},
             {"from": "s", "to": "t", "latency_s": 5e-3, "bandwidth_Bps": 2e6, "duplex": true} ] }
END
espalier tune p.json --op bcast,reduce,allgather,scatter --size 4kB,64kB,1MB --orders 40 -o t
cat t.openmpi.rules t.openmpi.hosts
grep -n -A30 'collective=allgather"' t.mpich.json | head -31

espalier tune p.json --native openmpi --op reduce --size 1MB --program commuting,same-types --orders 0 | head -4
espalier tune p.json --native mpich --op bcast --size 1MB --root b1 --orders 20 | tail -4
espalier tune p.json --native mpich@4.0.2 --op allgather --size 1MB --orders 0 --json

espalier tune p.json --native lam
espalier tune p.json --op sort
espalier tune p.json --size 1MB,1kB
espalier tune p.json --size 1TB
espalier tune p.json --native mpich,mpich
espalier tune p.json --program nice
espalier tune p.json --root s
printf 'a b 1Gbps\n' | espalier import --from edges - -o "one two.json" > /dev/null
espalier tune 'one two.json' --native openmpi --op bcast --size 1kB --orders 0 -o 'one two' | tail -2
espalier tune --help | head -12

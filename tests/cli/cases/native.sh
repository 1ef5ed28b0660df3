cat > p.json << 'END'
{ "format": "espalier-platform/1", "model": "capacity",
  "nodes": [ {"name": "a"}, {"name": "b"}, {"name": "c"}, {"name": "d"}, {"name": "s", "kind": "switch"} ],
  "links": [ {"from": "a", "to": "s", "latency_s": 1e-4, "bandwidth_Bps": 1e7, "duplex": true},
             {"from": "b", "to": "s", "latency_s": 1e-4, "bandwidth_Bps": 1e7, "duplex": true},
             {"from": "c", "to": "s", "latency_s": 1e-4, "bandwidth_Bps": 1e7, "duplex": true},
             {"from": "d", "to": "s", "latency_s": 1e-4, "bandwidth_Bps": 1e7, "duplex": true} ] }
END
espalier simulate p.json --native openmpi:bcast --size 1MB

espalier simulate p.json --native openmpi:bcast:pipeline --size 1MB --slice 50kB --root c | head -5

espalier simulate p.json --native openmpi:bcast:chain --size 1MB --fanout 3 --eager 2MB | head -3

espalier simulate p.json --native mpich:bcast --size 1MB --json | sed '/"resources"/,$d'

espalier simulate p.json --native mpich:bcast:scatter_ring_allgather --size 4kB --transfers - | head -5

espalier simulate p.json --native mpich@3.4:bcast --size 1kB | head -3

espalier compare p.json --algo binomial --native openmpi,mpich --size 1MB | sed 's/ *planning$//; s/ *[0-9.]* [mu]*s$//'

espalier compare p.json --algo binomial --native openmpi --native mpich@4.0.2 --size 1MB --json | grep -E 'algo|family|"makespan_s'

espalier compare p.json --op allreduce --algo binomial --native openmpi:ring,mpich@4.0.2:recursive_doubling --native openmpi --size 1MB | sed 's/ *planning$//; s/ *[0-9.]* [mu]*s$//'

espalier compare p.json --algo binomial --native openmpi:all,mpich:all --size 1MB --csv | cut -d, -f1-5
espalier compare p.json --algo binomial --native openmpi:pipeline,openmpi:binomial --slice 50kB --size 1MB --csv | cut -d, -f1-5

espalier compare p.json --op multicast --targets b,c --native mpich --size 4kB | tail -2
espalier compare p.json --op multicast --targets b,c --native mpich:all --size 4kB | tail -2
espalier compare p.json --op bcast --native openmpi:pipelin
espalier compare p.json --op bcast --native openmpi:
espalier compare p.json --op bcast --native lam:ring

for op in bcast allgather reduce allreduce scatter gather reduce-scatter alltoall; do
    espalier compare p.json --op $op --algo auto --native openmpi,mpich --size 100kB --json | grep -A4 -E 'openmpi:|mpich:' | grep -E 'algo|"makespan_s'
done

espalier simulate p.json --native openmpi:reduce:chain --size 100kB --slice 10kB --root d | head -3

espalier simulate p.json --native lam:bcast
espalier simulate p.json --native openmpi
espalier simulate p.json --native openmpi:bcast:pipe
espalier simulate p.json --native openmpi@x:bcast
espalier simulate p.json --native openmpi:bcast --fault node:a@0
espalier simulate p.json plan.json --native openmpi:bcast
espalier simulate p.json
espalier simulate p.json --native openmpi:bcast:split_binary_tree --size 1TB --slice 1
espalier compare p.json --native openmpi,lam

espalier generate

espalier generate --json

espalier generate random --nodes 3 --density 0 --deviation 0

espalier generate tiers --preset 30 --seed 7 -o a.json

espalier generate tiers --preset 30 --seed 7 | cmp - a.json && echo same bytes

espalier generate tiers --preset=30 --seed=8 | cmp -s - a.json || echo other bytes

espalier generate hnow -o b.json --json

espalier generate complete --nodes 2 --bandwidth 100Mbps --deviation 0 --latency 5ms --model capacity

espalier generate measured --kind chain --hosts 3 --seed 2

espalier generate measured --preset chain -o chain.json

espalier generate measured --preset chain --hosts 9

espalier generate measured --kind cross

espalier generate tears

espalier generate tiers --preset 66

espalier generate random --nodes

espalier generate random --nodes 3.5

espalier generate random --nodes 0

espalier generate random --nodes 99999999999999999999

espalier generate random --seed -1

espalier generate random --density nan

espalier generate random --density 2

espalier generate random --bandwidth 100Mups

espalier generate random --latency 5parsecs

espalier generate random --lattency 5ms

espalier generate random surplus

espalier generate matrix --latency-min 2ms --latency-max 1ms

# Refused usage writes nothing.
espalier generate random --nodes 0 -o never.json

espalier generate random -o no/such/folder/p.json

ls

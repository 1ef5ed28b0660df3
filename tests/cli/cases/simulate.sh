espalier generate tiers --preset 30 --seed 1 -o p.json
espalier plan p.json --root w3 --algo grow -o plan.json > /dev/null

espalier simulate p.json plan.json

espalier simulate p.json plan.json --size 1MB --gantt --rows 12

LC_ALL=C.UTF-8 COLUMNS=60 espalier simulate p.json plan.json --size 1MB -g --rows 3 | tail -8

espalier simulate p.json plan.json --sharing fluid --size 1MB --slice 1MB | head -7

espalier simulate p.json plan.json --fault node:m0@5ms --fault pair:w3:w9@1ms=0.5 --size 1MB --gantt --rows 6

cat > t.csv << 'END'
# two hours of bad weather
0,link,w3,w2,0.5
10ms,link,w3,w2,down
20ms,link,w3,w2,up
1,node,w1
END
espalier simulate p.json plan.json --trace t.csv | head -7

espalier simulate p.json plan.json --fault link:w3:w2@0 | head -7

espalier simulate p.json plan.json --fault node:m0@1ms --size 100kB --slice 100kB --json > out.json; sed '/"resources"/,$d' out.json
sed -n '/"resources"/,/}/p' out.json

espalier simulate p.json plan.json --size 100kB --slice 50kB --fault node:m0@1ms --transfers all.csv > /dev/null
head -4 all.csv; wc -l < all.csv; grep ',1$' all.csv

espalier simulate p.json plan.json --size 50kB --transfers - | wc -l

sed 's/"bandwidth_Bps": /&1/' p.json > q.json
espalier simulate p.json plan.json --reality q.json | head -3

grep -v '"m1", "to": "m2"' p.json > r.json
espalier simulate p.json plan.json --reality r.json

espalier generate random --nodes 3 -o s.json
espalier simulate p.json plan.json --reality s.json

espalier simulate s.json plan.json

espalier simulate p.json plan.json --fault node:nobody@1

espalier simulate p.json plan.json --fault link:w3:m9@1

espalier simulate p.json plan.json --fault cable:wan@1=0.5

espalier simulate p.json plan.json --fault 'node:w1'

echo '1,link,w3,w9,2x' > bad.csv
espalier simulate p.json plan.json --trace bad.csv

espalier simulate p.json plan.json --trace missing.csv

espalier simulate p.json plan.json --size 0

espalier simulate p.json plan.json --sharing none

sed 's/"w2"/"w9"/' plan.json > wrong.json
espalier simulate p.json wrong.json

espalier simulate p.json p.json

espalier simulate p.json missing.json

espalier simulate p.json

espalier generate matrix --nodes 12 --seed 3 -o m.json
espalier generate matrix --nodes 12 --seed 4 -o other.json
espalier plan m.json --root p0 --size 1MB --algo two-tree -o two.json > /dev/null
espalier plan m.json --root p0 --size 1MB --algo patient -o patient.json > /dev/null

espalier simulate m.json two.json --alpha 0.5 --reality other.json

espalier simulate m.json two.json --fault node:p3@1ms --fault node:p5@2ms --fault node:p1@0 --fault node:p8@0 | head -10

espalier simulate m.json patient.json --reality other.json --json | sed -n '/"race"/,/}/p'

espalier simulate m.json two.json --sharing fluid

espalier simulate p.json plan.json --slice 1KB --budget 1us

espalier simulate p.json --native openmpi:bcast:pipeline --size 1MB --slice 1KB --budget 1us

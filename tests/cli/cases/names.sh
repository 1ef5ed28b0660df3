# Names that would steer a terminal: a control sequence in one byte (U+009B), one that
# turns the direction of writing round (U+202E), one that shows nothing (U+200B), an end
# of line (U+2028). They are shown by their numbers, and kept as they are in JSON.
cat > v <<'END'
csi=$(printf '\302\233')31m turn=$(printf '\342\200\256') none=$(printf '\342\200\213')
END
. ./v
cat > p.json <<END
{"format": "espalier-platform/1", "name": "grid$csi", "nodes": [
 {"name": "a$turn", "site": "s$none"}, {"name": "b$csi", "site": "s$none"}, {"name": "c\u2028"}],
 "links": [{"from": "a$turn", "to": "b$csi", "latency_s": 0, "bandwidth_Bps": 1e6, "duplex": true},
 {"from": "b$csi", "to": "c\u2028", "latency_s": 0, "bandwidth_Bps": 2e6, "duplex": true}],
 "shared": [{"name": "wan$turn", "bandwidth_Bps": 1e6, "links": [["a$turn", "b$csi"], ["b$csi", "a$turn"]]}]}
END
cat > plan.json <<END
{"format": "espalier-plan/1", "op": "bcast", "root": "a$turn", "algo": "best$csi", "size_bytes": 1000,
 "slice_bytes": 500, "trees": [{"weight": 1, "edges": [["a$turn", "b$csi"], ["b$csi", "c\u2028"]]}]}
END
# What no output may hold: bytes of those characters.
cat > look <<'END'
grep -c -a -P '\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|[\x00-\x09\x0b-\x1f\x7f]' "$@"
END
chmod +x look; ./look p.json plan.json

espalier info p.json

espalier simulate p.json plan.json --gantt

. ./v; espalier bound p.json --root a$turn --what-if | ./look

. ./v; espalier plan p.json --root a$turn --algo grow --size 1MB --slice 10KB | sed '/planning/d'

# JSON has the names themselves.
espalier info p.json --json | ./look; espalier import p.json -o q.json > /dev/null; ./look q.json; espalier info q.json | head -1

grep -n 'from' q.json; espalier info p.json --json > 1; espalier info q.json --json | cmp - 1

espalier show p.json plan.json -o plan.svg > /dev/null; ./look plan.svg; espalier show p.json plan.json -o page.html > /dev/null; ./look page.html

# Messages.
. ./v; espalier plan p.json --root x$csi

. ./v; espalier info none$turn.json

. ./v; printf 'a%s b 1\nb a%s -1\n' $csi $csi | espalier info -

. ./v; sed "s/b$csi/d$csi/" plan.json > wrong.json; espalier simulate p.json wrong.json

# A list for programs has the names; a terminal, their numbers.
espalier simulate p.json plan.json --transfers t.csv > /dev/null; ./look t.csv

TERM=dumb script -qec 'espalier simulate p.json plan.json --transfers -' /dev/null < /dev/null | tr -d '\r' | head -2

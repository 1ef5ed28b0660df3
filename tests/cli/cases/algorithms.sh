espalier algorithms --help

espalier algorithms --family atomic | tr -s ' ' | sed -n '1p; /^flat /p; $p'

espalier algorithms flat

espalier algorithms flat --json

espalier algorithms falt

espalier algorithms nothing-like-it

espalier algorithms --op nothing

# Each of the list can be explained, and has a name of its own.
espalier algorithms --json | sed -n 's/^    "name": "\(.*\)",/\1/p' > names
sort names | uniq -d
while read -r name; do espalier algorithms "$name" > text || echo "no $name"; done < names

# Those that serve the operation, whatever they were made for: as compare lists them.
espalier algorithms --op reduce | sed -n 3,5p; espalier algorithms --op gather --json | grep -c "\"name\": \"scatter-makespan\""

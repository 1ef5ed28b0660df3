espalier help generate

espalier generate random --help

espalier import --help

espalier info --help

espalier help help

espalier version -h

espalier completion --help

COLUMNS=50 espalier info --help

# Every command and option of the JSON help is in the text help, too.
espalier help --json > help.json
for name in generate import info; do
    espalier $name --help > text
    grep -o -- '--[a-z]*' text | sort -u | tr '\n' ' '
done

# examples come out on the network that the help makes (those that take little time)
espalier generate tiers --preset 30 -o p.json; espalier plan p.json --root w3 --algo ecef -o plan.json > plan.txt; cp p.json q.json
for c in bound info plan simulate compare; do espalier $c --help | sed -n '/^Examples/,$p' | grep '^    espalier' | grep 'p\.json' | grep -v -e 1GB -e 'compare p.json$' -e auto -e '--sort'; done > examples
wc -l < examples; while read -r line; do bash -c "$line" > out 2>&1 < /dev/null || echo "$line"; done < examples

espalier show --help

espalier generate tiers --preset 30 --seed 7 -o t.json >tiers.out

espalier show t.json --algo grow -o tree.svg

grep -o "class=.edge" tree.svg | wc -l; grep -o "<title id=.title.>.*</title>" tree.svg

espalier plan t.json --algo mtp -o many.json >plan.out

espalier show t.json many.json -o many.svg --json

espalier show t.json --no-plan -o bare.svg; grep -c "class=.plan" bare.svg

espalier show t.json many.json many.json -o two.svg

espalier show t.json -o picture.gif

espalier show t.json tiers.out -o x.svg

espalier show t.json --algo grwo -o x.svg

ls *.svg

# For Graphviz: sites, switches, both rates of a pair, names that need care.
printf '{"format":"espalier-platform/1","name":"say \\"x\\"","model":"one-port","nodes":[{"name":"a","site":"s"},{"name":"b\\\\","site":"s"},{"name":"r","kind":"switch"}],"links":[{"from":"a","to":"r","bandwidth_Bps":1e8,"duplex":true},{"from":"r","to":"b\\\\","bandwidth_Bps":1e8},{"from":"b\\\\","to":"r","bandwidth_Bps":2e8}]}' > dot.json
espalier show dot.json --root a --algo fnf -o net.dot; cat net.dot

# PNG and PDF where librsvg is there, else a sentence; never a part of a file.
for e in png pdf; do espalier show dot.json --root a --algo fnf -o net.$e > said 2>&1; code=$?; if [ $code = 0 ]; then head -c 4 net.$e | tr -d '\211'; else grep -q 'need librsvg' said && [ ! -e net.$e ] && case $e in png) printf PNG ;; pdf) printf %%PDF ;; esac; fi; echo; done

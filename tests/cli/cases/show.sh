espalier show --help

espalier generate tiers --preset 30 --seed 7 -o t.json >tiers.out

espalier show t.json --algo grow -o tree.svg

grep -o "class=.edge" tree.svg | wc -l; grep -o "<title id=.title.>.*</title>" tree.svg

espalier plan t.json --algo mtp -o many.json >plan.out

espalier show t.json many.json -o many.svg --json

espalier show t.json --no-plan -o bare.svg; grep -c "class=.plan" bare.svg

espalier show t.json many.json many.json -o two.svg

espalier show t.json -o picture.png

espalier show t.json tiers.out -o x.svg

espalier show t.json --algo grwo -o x.svg

ls *.svg

espalier generate tiers --preset 30b --seed 3 -o p.json

espalier bound p.json --op scatter

espalier bound p.json --op multicast --targets l3,l5,l8

espalier bound p.json --op reduce

espalier bound p.json --op allreduce --json | grep -v solve_s

espalier plan p.json --op multicast --targets l3,l5,l8 -o plan.json | grep -v -e planning

espalier simulate p.json plan.json | head -n 12

espalier plan p.json --op allreduce --algo grow | grep -v -e planning

espalier plan p.json --op gather --targets l3,l5 | grep -v -e planning

espalier plan p.json --op multicast --algo grow | head -n 1

espalier compare p.json --op multicast --targets l3,l5,l8 --json | grep -c algo

printf 'l3\nl5, l8\n' > targets
espalier bound p.json --op multicast --targets @targets --json | grep -v solve_s

espalier bound p.json --op multicast --targets 50% --seed 4

espalier plan p.json --op scatter --targets 20% --no-bound | head -n 1

espalier plan p.json --op multicast --targets l3,l3

espalier plan p.json --op multicast --targets 0%

espalier plan p.json --op multicast --targets ,

printf 'l3 nobody' > targets; espalier plan p.json --op multicast --targets @targets

espalier plan p.json --op multicast --targets @nowhere

espalier plan p.json --op reduce --root nobody

espalier plan p.json --op multicast --targets w0

espalier plan p.json --op multicast --targets l3,nobody

espalier plan p.json --targets l3

espalier plan p.json --op scatter --algo grow

espalier plan p.json --op reduce-scatter --size 1MB | grep -v -e planning

espalier plan p.json --op reduce-scatter --algo two-tree

espalier generate sites --sites 2 --clusters 1 --hosts 3 -o sites.json >/dev/null; espalier compare sites.json --op alltoall --size 4kB | sed -E 's/ +[0-9.]+ [mun]?s$//'

espalier plan sites.json --op alltoall --size 4kB -o a.json | grep -v -e planning

espalier simulate sites.json a.json | head -7

espalier bound sites.json --op alltoall --size 4kB

espalier plan sites.json --op alltoall --algo by-site:gap=9

espalier plan sites.json --op alltoall --targets s1-c1-h1

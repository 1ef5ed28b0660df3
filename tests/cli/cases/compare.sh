mask() { sed -E 's/("(makespan_)?ratio": [0-9.]{6})[0-9.]+/\1/; s/ +[0-9.]+ [mun]?s$/  TIME/; s/("plan_s": ).*/\1TIME/'; }
espalier generate tiers --preset 65 --seed 7 -o p.json
declare -f mask > mask.sh

. ./mask.sh; espalier compare p.json --root w3 --algo flat,fef,ecef,prune-degree,grow,multiport-grow | mask

. ./mask.sh; espalier compare p.json --root w3 --algo look-ahead:variant=avg,ecef --algo fef --sort makespan --size 1MB --slice 0 | mask

. ./mask.sh; espalier compare p.json --algo ecef,flat,multiport-grow --json | mask

espalier compare p.json | awk '{print $1}' | sort > all
espalier algorithms | awk '$2 == "bcast" {print $1}' | sort > known
comm -13 all known | grep -v -e '^More$' -e '^algorithm$'

espalier compare p.json --algo multiport-grow

espalier compare p.json --algo ecef,gorw

espalier compare p.json --algo look-ahead:variant=mad

espalier compare p.json --root nobody

espalier compare p.json --sort beauty

espalier compare missing.json

espalier compare p.json --root w3 --algo fnf,look-ahead:variant=avg --csv | sed 's/,[^,]*$//'

espalier compare p.json --root w3 --front --csv

espalier generate tiers --preset 30 --seed 1 -o q.json

# rows that have a shorter makespan, but more messages, stand below
espalier compare q.json --op allgather --size 1KB | grep '^Rows'

# where there is no time, those for which there is none say so
espalier compare q.json --op multicast --targets 50% --budget 1us 2>&1 | tr -s '\n ' ' ' | grep -o 'no time was left' | wc -l

# what ranks do with short allreduces, and what is no plan of trees
espalier compare q.json --op allreduce --size 8B --json | grep -o -e '"gathered"' -e '"mpich:recursive_doubling"' | sort

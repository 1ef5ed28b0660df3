espalier knobs

ESPALIER_MODE=force ESPALIER_PLATFORM='a b.json' espalier knobs --json | head -8

ESPALIER_WINDOW=0 espalier knobs | grep WINDOW

espalier run

espalier run -- ./app

espalier run -p missing.json -- mpirun.openmpi -n 2 ./app

espalier run --plan plan.json -- mpirun.openmpi -n 2 ./app

espalier run --mode fast -- mpiexec.mpich -n 2 ./app

espalier run --algo mtp -- mpirun.openmpi -n 2 ./app

# What is wrong with algorithm and hosts is said before anything starts.
espalier generate sites --sites 2 --clusters 1 --hosts 2 -o sites.json
espalier run --mode force --algo nosuch -- mpirun.openmpi -n 2 ./app
espalier run -p sites.json --algo mtp:treez=3 -- mpirun.openmpi -n 2 ./app
espalier run -p sites.json --hosts s1-c1-h1,elsewhere -- mpirun.openmpi -n 2 ./app
espalier run -p sites.json --hosts 's1-c1-h[1-' -- mpirun.openmpi -n 2 ./app

espalier knobs

ESPALIER_MODE=force ESPALIER_PLATFORM='a b.json' espalier knobs --json | head -8

ESPALIER_WINDOW=0 espalier knobs | tail -1

espalier run

espalier run -- ./app

espalier run -p missing.json -- mpirun.openmpi -n 2 ./app

espalier run --plan plan.json -- mpirun.openmpi -n 2 ./app

espalier run --mode fast -- mpiexec.mpich -n 2 ./app

espalier run --algo mtp -- mpirun.openmpi -n 2 ./app

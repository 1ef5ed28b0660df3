espalier sweep

espalier sweep -- ./app

espalier sweep --op bcast,multicast -- mpirun.openmpi

espalier sweep --op bcast,bcast -- mpirun.openmpi

espalier sweep --from 2MB --to 1MB -- mpirun.openmpi

espalier sweep -p missing.json -- mpirun.openmpi

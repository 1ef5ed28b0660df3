espalier generate sites --sites 2 --clusters 1 --hosts 2 -o grid.json

espalier advise

espalier advise -p grid.json --folder advice --http nowhere

espalier advise -p grid.json --folder advice --http example.org:80

espalier advise -p grid.json --folder advice --http 127.0.0.1:99999

espalier advise -p grid.json --folder advice --http 0.0.0.0:8080

espalier advise -p grid.json --folder advice --http-open

espalier run -p grid.json --http 8080 -- mpirun.openmpi -n 2 ./app

espalier run --adapt -p grid.json --http '[::]:80' -- mpirun.openmpi -n 2 ./app


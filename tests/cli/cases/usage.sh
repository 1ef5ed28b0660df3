espalier

espalier --help

espalier --version | sed 's/[0-9.]*$/VERSION/'

espalier version --json | sed 's/[0-9.]\{5,\}/VERSION/'

espalier versoin

espalier vesrion --help

espalier --jsn

espalier frobnicate

espalier help --jsn

espalier help --json=yes

espalier help -x

espalier help nothing

espalier version surplus

espalier completion

espalier completion fish

espalier man nothing

espalier help -- version

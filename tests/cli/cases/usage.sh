espalier | sed -n '1,3p; /^  info/p; /^A first/,$p'

espalier > overview; espalier --help | cmp - overview

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

espalier completion csh

espalier man nothing

espalier help -- version

printf '# a triangle\na b 10\nb c 20\nc a 30\n' > t.edges

espalier import t.edges --from edges -o t.json

espalier import t.json | cmp - t.json && echo same bytes

espalier import t.json --model capacity | grep '"model"'

printf 'a b\n' | espalier import - --from edges

espalier import t.edges --from pajek

espalier import

# Through a symbolic link; the link stays one.
espalier import t.json -o real.json; ln -s real.json link.json
espalier import t.json -o link.json; readlink link.json

# The mode is the usual one, and no temporary file is left.
umask 022; espalier import t.json -o new.json > /dev/null; stat -c %a new.json; ls

printf 'from,to,throughput_bps,usd_per_GB\naws:a,gcp:b,8e9,0.09\ngcp:b,aws:a,4e9,0.12\n' > clouds.csv
espalier import clouds.csv --site-limits aws=5Gbps/10Gbps,gcp=7Gbps/16Gbps --machines 4 --usd-per-hour 0.54

espalier import clouds.csv --machines 4 --usd-per-hour 0.54 | espalier info -

espalier import clouds.csv --machines 4 | espalier info - --json | grep -A 4 prices

espalier import clouds.csv --site-limits azure=5Gbps/10Gbps

espalier import clouds.csv --site-limits aws

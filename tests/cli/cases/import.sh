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

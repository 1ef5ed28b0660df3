espalier help generate

espalier generate random --help

espalier import --help

espalier info --help

espalier help help

espalier version -h

espalier completion --help

COLUMNS=50 espalier info --help

# Every command and option of the JSON help is in the text help, too.
espalier help --json > help.json
for name in generate import info; do
    espalier $name --help > text
    grep -o -- '--[a-z]*' text | sort -u | tr '\n' ' '
done

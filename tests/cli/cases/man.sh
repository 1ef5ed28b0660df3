# Pages have their sections and format without a warning.
espalier man --all pages
for page in pages/*; do
    grep '^\.SH' "$page" | tr '\n' ' '
    echo "${page#pages/}"
    ! command -v man > /dev/null || man --warnings -E ascii -l "$page" 2>&1 > /dev/null
done

espalier man info | sed 's/"espalier [0-9.]*"/VERSION/'

espalier man --all /dev/null/nowhere

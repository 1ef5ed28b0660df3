# Pages have their sections and format without a warning.
espalier man --all pages
for page in pages/*; do
    for section in NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES 'EXIT STATUS' 'SEE ALSO'; do
        grep -qx ".SH $section" "$page" || echo "$page has no $section"
    done
    ! command -v man > /dev/null || man --warnings -E ascii -l "$page" 2>&1 > /dev/null
done
ls pages | grep -x 'espalier.1\|espalier-info.1'

espalier man info | sed 's/"espalier [0-9.]*"/VERSION/'

espalier man --all /dev/null/nowhere

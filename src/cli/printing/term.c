/* What the terminal can do, and wrapped text. */
#include "cli/printing/term.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

static bool utf8;

void cli_term_init(void)
{
    /* Numbers keep the C locale: only the character set is of interest. */
    utf8 = setlocale(LC_CTYPE, "") && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    if (!utf8)
        setlocale(LC_CTYPE, "C.UTF-8"); /* widths of names in files, which are UTF-8 */
}

bool cli_term_utf8(void)
{
    return utf8;
}

int cli_term_width(void)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    int width = columns ? atoi(columns) : 0;

    if (width <= 0 && isatty(STDOUT_FILENO) &&
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    if (width <= 0)
        width = 80;
    return width < 40 ? 40 : width > 100 ? 100 : width;
}

static const char *style(FILE *stream, const char *sequence)
{
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

    if (!isatty(fileno(stream)) || (no_color && *no_color))
        return "";
    return term && *term && strcmp(term, "dumb") != 0 ? sequence : "";
}

const char *cli_bold(FILE *stream)
{
    return style(stream, "\033[1m");
}

const char *cli_dim(FILE *stream)
{
    return style(stream, "\033[2m");
}

const char *cli_plain(FILE *stream)
{
    return style(stream, "\033[0m");
}

int cli_text_width(const char *text)
{
    mbstate_t state = {0};
    int width = 0;

    while (*text) {
        wchar_t c;
        size_t n = mbrtowc(&c, text, MB_CUR_MAX, &state);
        if (n == 0 || n > MB_CUR_MAX) { /* not a character: one column a byte */
            memset(&state, 0, sizeof state);
            n = 1;
            c = L'?';
        }
        int w = wcwidth(c);
        width += w > 0 ? w : 0;
        text += n;
    }
    return width;
}

void cli_wrap(FILE *out, const char *text, int column, int indent, int width)
{
    bool fresh = true; /* nothing on this line yet */

    while (*text) {
        char word[256];
        size_t n = strcspn(text, " ");
        snprintf(word, sizeof word, "%.*s", (int)n, text);
        int w = cli_text_width(word);
        if (!fresh && column + 1 + w > width) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            fresh = true;
        }
        fprintf(out, "%s%s", fresh ? "" : " ", word);
        column += w + !fresh;
        fresh = false;
        text += n;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

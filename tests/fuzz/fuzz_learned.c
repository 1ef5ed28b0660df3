/* What trials have shown, from a file: whatever is taken can be gone on with. */
#include <stdint.h>
#include <stdlib.h>

#include "runtime/learned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void resume_with(const struct espi_lesson *lesson)
{
    struct espi_trials t;
    double predicted_s[2] = {1, 2};
    espi_trials_init(&t, 2, predicted_s, 0.1);
    t.contender[0] = lesson->native;
    t.contender[1] = lesson->planned;
    espi_trials_resume(&t);
    for (int i = 0; i < 100; i++) {
        struct espi_turn turn = espi_trials_next(&t);
        if (turn.contender < 0 || turn.contender > 1)
            abort();
        if (turn.timed)
            espi_trials_tell(&t, turn.contender, (struct espi_call_time){1, 1});
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct espi_learned l;
    struct esp_err err;
    if (espi_learned_parse((const char *)data, size, "learned", &l, &err))
        return 0;
    for (size_t i = 0; i < l.n; i++) {
        const struct espi_lesson *s = &l.lessons[i];
        if (espi_learned_find(&l, s->team, s->op, s->root, s->size_class) != s)
            abort();
        resume_with(s);
    }
    espi_learned_done(&l);
    return 0;
}

/* The public function that draws a picture into a file. */
#include <espalier/picture.h>

#include "base/err.h"
#include "base/json_text.h"
#include "plan/ops.h"
#include "platform/platform.h"
#include "report/picture.h"

esp_status esp_picture_write(const struct esp_platform *p, const struct esp_plan *plan,
                             const char *title, const char *path, struct esp_err *err)
{
    struct espi_picture picture = {.title = title ? title : esp_platform_name(p)};
    struct espi_arena arena;
    esp_status status = plan ? esp_plan_check(plan, p, err) : ESP_OK;

    if (status)
        return status;
    espi_arena_init(&arena);
    if (espi_network_init(&picture.net, p,
                          plan && !espi_op_frees_roots(plan->op) ? plan->root : -1, NULL,
                          &arena))
        status = espi_err_nomem(err);
    picture.net.plans = &plan;
    picture.net.n_plans = plan != NULL;
    if (!status)
        status = espi_write_file(path, espi_picture_write, &picture, err);
    espi_arena_done(&arena);
    return status;
}

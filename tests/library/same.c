/* What a stranger's program gets from the library where nothing is said but the
 * operation: the plan, or the bound. tests/library/same compares it with what the program
 * prints. usage: same plan|bound OPERATION FILE */
#include <espalier/espalier.h>

#include <stdio.h>
#include <string.h>

static struct esp_err err;

static esp_status print_plan(const struct esp_platform *p,
                             const struct esp_request *request)
{
    struct esp_plan *plan = NULL;
    esp_status status = esp_plan_make(p, request, &plan, &err);
    if (!status)
        status = esp_plan_write_stream(plan, p, stdout, &err);
    esp_plan_free(plan);
    return status;
}

static esp_status print_bound(const struct esp_platform *p,
                              const struct esp_request *request)
{
    struct esp_bound *bound = NULL;
    esp_status status = esp_bound_compute(p, request, NULL, &bound, &err);
    if (!status)
        printf("%.9g %.9g %s\n", bound->throughput_Bps, bound->slice_bytes,
               bound->exact ? "true" : "false");
    esp_bound_free(bound);
    return status;
}

int main(int argc, char **argv)
{
    struct esp_platform *p = NULL;
    struct esp_request request;
    esp_request_init(&request, 0);
    if (argc != 4 || esp_op_parse(argv[2], &request.op))
        return 2;
    esp_status status = esp_platform_read(argv[3], NULL, &p, &err);
    if (!status)
        status = strcmp(argv[1], "plan") == 0 ? print_plan(p, &request)
                                              : print_bound(p, &request);
    if (status)
        fprintf(stderr, "%s\n", err.text);
    esp_platform_free(p);
    return status != ESP_OK;
}

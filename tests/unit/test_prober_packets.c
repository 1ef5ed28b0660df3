/* What probers tell each other: they believe nobody who is not of the job, take no sense
 * from nonsense, time trains of packets, and know under which address they are found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "channel/prober.h"
#include "support/seed.h"

static void codes_are_as_published(void **state)
{
    unsigned char key[ESPI_KEY_BYTES], data[15];
    (void)state;
    for (int i = 0; i < ESPI_KEY_BYTES; i++)
        key[i] = (unsigned char)i;
    for (int i = 0; i < 15; i++)
        data[i] = (unsigned char)i;
    assert_true(espi_mac(key, data, 15) == UINT64_C(0xa129ca6149be45e5));
    assert_true(espi_mac(key, data, 0) == UINT64_C(0x726fdb47dd0e0e31));
}

static struct sockaddr_in address_of(const struct espi_prober *line)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_addr = {line->address}, .sin_port = line->port};
}

/* Of all that can come, only what a prober of the job says for itself is taken. */
static void strangers_are_not_heard(void **state)
{
    struct espi_prober list[3] = {{4, htonl(0x0a000001), htons(1001), 1},
                                  {7, htonl(0x0a000002), htons(1002), 0},
                                  {9, htonl(0x0a000003), htons(1003), 0}};
    struct espi_prober_head head = {
        .magic = ESPI_PROBER_MAGIC, .n = 3, .self = 2, .hub = 0, .key = {1, 2, 3}};
    struct espi_packet p = {.kind = ESPI_PACKET_TRAIN,
                            .from = 7,
                            .to = 9,
                            .sender = 7,
                            .number = 5},
                       got;
    unsigned char bytes[ESPI_TRAIN_PACKET_BYTES + 1] = {0}, other[ESPI_KEY_BYTES] = {9};
    struct sockaddr_in from = address_of(&list[1]), wrong = address_of(&list[2]);
    struct espi_rng rng;
    (void)state;
    assert_true(espi_prober_head_is_sane(&head));
    espi_packet_seal(&p, head.key);
    memcpy(bytes, &p, sizeof p);
    assert_int_equal(
        espi_packet_open(bytes, ESPI_TRAIN_PACKET_BYTES, &from, &head, list, &got), 1);
    assert_memory_equal(&got, &p, sizeof p);
    assert_int_equal(espi_packet_open(bytes, sizeof p - 1, &from, &head, list, &got), -1);
    assert_int_equal(
        espi_packet_open(bytes, ESPI_TRAIN_PACKET_BYTES + 1, &from, &head, list, &got),
        -1);
    assert_int_equal(espi_packet_open(bytes, 1000, &wrong, &head, list, &got), -1);
    for (size_t bit = 0; bit < 8 * sizeof p; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_int_equal(espi_packet_open(bytes, 1000, &from, &head, list, &got), -1);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    espi_packet_seal(&p, other);
    assert_int_equal(espi_packet_open(&p, sizeof p, &from, &head, list, &got), -1);
    /* one of the job that speaks for others, or of hosts that are not of it */
    struct espi_packet lies[] = {p, p, p, p, p, p};
    lies[0].kind = ESPI_PACKET_ORDER; /* it is not the hub */
    lies[1].kind = ESPI_PACKET_RATE;
    lies[1].Bps = 1;
    lies[2].to = 5;
    lies[3].index = ESPI_TRAIN_PACKETS;
    lies[4].number = 0;
    lies[5].to = 7;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        espi_packet_seal(&lies[i], head.key);
        assert_int_equal(espi_packet_open(&lies[i], sizeof p, &from, &head, list, &got),
                         -1);
    }
    espi_rng_seed(&rng, test_seed(3));
    for (int i = 0; i < 100000; i++) {
        for (size_t k = 0; k < sizeof p; k++)
            bytes[k] = (unsigned char)espi_rng_below(&rng, 256);
        memcpy(bytes + 8, &(uint32_t){ESPI_PACKET_MAGIC}, 4);
        assert_int_equal(espi_packet_open(bytes, sizeof p, &from, &head, list, &got), -1);
    }
}

static void heads_and_notes_are_checked(void **state)
{
    struct espi_prober_head head = {.magic = ESPI_PROBER_MAGIC, .n = 2, .self = 1};
    struct espi_probe_note n = {.magic = ESPI_PROBE_NOTE_MAGIC,
                                .version = ESPI_PROBE_NOTE_VERSION,
                                .kind = ESPI_PROBE_NOTE_END,
                                .from = 1,
                                .to = 2,
                                .number = 1,
                                .Bps = 5},
                           bad;
    (void)state;
    assert_true(espi_prober_head_is_sane(&head));
    head.hub = 2;
    assert_false(espi_prober_head_is_sane(&head));
    head.hub = 0;
    head.n = ESPI_PROBERS_MAX + 1;
    assert_false(espi_prober_head_is_sane(&head));
    head.n = 2;
    memset(head.folder, 'x', sizeof head.folder);
    assert_false(espi_prober_head_is_sane(&head));
    assert_true(espi_probe_note_is_sane(&n, 3));
    assert_false(espi_probe_note_is_sane(&n, 2));
#define REFUSES(member, value)                                                           \
    bad = n;                                                                             \
    bad.member = (value);                                                                \
    assert_false(espi_probe_note_is_sane(&bad, 3))
    REFUSES(magic, 0);
    REFUSES(version, 2);
    REFUSES(kind, 0);
    REFUSES(kind, 4);
    REFUSES(from, -1);
    REFUSES(from, 2);
    REFUSES(to, -1);
    REFUSES(end, 3);
    REFUSES(end, -1);
    REFUSES(number, 0);
    REFUSES(Bps, NAN);
    REFUSES(Bps, INFINITY);
    REFUSES(Bps, -1);
}

/* The rate is that of the second half; what was played again or is late does not count.
 */
static void trains_are_timed(void **state)
{
    struct espi_train t = {0};
    struct espi_packet p = {.kind = ESPI_PACKET_TRAIN, .from = 3, .number = 8};
    double at_s = 50;
    int ended = 0;
    (void)state;
    for (int i = 0; i < ESPI_TRAIN_PACKETS; i++) {
        p.index = (uint16_t)i;
        at_s += i < ESPI_TRAIN_PACKETS / 2 ? 1e-6 : 1e-3;
        ended += espi_train_note(&t, &p, at_s);
    }
    assert_int_equal(ended, 1);
    assert_true(fabs(espi_train_Bps(&t) / 1.428e6 - 1) < 1e-6);
    double before = espi_train_Bps(&t);
    for (int i = 0; i < ESPI_TRAIN_PACKETS; i++) {
        p.index = (uint16_t)i;
        assert_int_equal(espi_train_note(&t, &p, at_s + 1), 0); /* again */
    }
    p.number = 7;
    assert_int_equal(espi_train_note(&t, &p, at_s), 0); /* an older one */
    assert_true(espi_train_Bps(&t) == before);
    p.number = 9;
    assert_int_equal(espi_train_note(&t, &p, at_s), 1); /* all but the last are lost */
    assert_true(espi_train_Bps(&t) == 0);
}

/* A network that carries packets twice, or plays the first of them again and again, does
 * not make a link seem faster. */
static void packets_that_come_twice_count_once(void **state)
{
    struct espi_train t = {0}, few = {0};
    struct espi_packet p = {.kind = ESPI_PACKET_TRAIN, .from = 3, .number = 8};
    double at_s = 50;
    (void)state;
    for (int i = 0; i < ESPI_TRAIN_PACKETS; i++) {
        p.index = (uint16_t)i;
        at_s += 1e-3;
        espi_train_note(&t, &p, at_s);
        espi_train_note(&t, &p, at_s + 1e-5);
    }
    assert_true(fabs(espi_train_Bps(&t) / 1.428e6 - 1) < 1e-6);
    p.index = ESPI_TRAIN_PACKETS / 2;
    for (int i = 0; i < 1000; i++)
        assert_int_equal(espi_train_note(&few, &p, at_s + 1e-6 * i), 0);
    p.index = ESPI_TRAIN_PACKETS - 1;
    assert_int_equal(espi_train_note(&few, &p, at_s + 1), 1);
    assert_true(espi_train_Bps(&few) == 0); /* two packets are too little */
}

static char *named(const char *name)
{
    static char networks[] = "nothing,127.0.0.0/8";
    return strcmp(name, "OMPI_MCA_btl_tcp_if_include") == 0 ? networks : NULL;
}

static char *nothing(const char *name)
{
    (void)name;
    return NULL;
}

static void the_interface_that_is_named_is_taken(void **state)
{
    (void)state;
    assert_int_equal(espi_prober_address(named), htonl(INADDR_LOOPBACK));
    assert_int_not_equal(espi_prober_address(nothing), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_are_as_published),
        cmocka_unit_test(strangers_are_not_heard),
        cmocka_unit_test(heads_and_notes_are_checked),
        cmocka_unit_test(trains_are_timed),
        cmocka_unit_test(packets_that_come_twice_count_once),
        cmocka_unit_test(the_interface_that_is_named_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/mac.h"

static uint64_t rotate_left(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static uint64_t read_word(const unsigned char *at, size_t length)
{
    uint64_t word = 0;
    for (size_t i = 0; i < length; i++)
        word |= (uint64_t)at[i] << (8 * i);
    return word;
}

static void sip_rounds(uint64_t v[4], int rounds)
{
    while (rounds-- > 0) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate_left(v[1], 13) ^ v[0];
        v[3] = rotate_left(v[3], 16) ^ v[2];
        v[0] = rotate_left(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate_left(v[1], 17) ^ v[2];
        v[3] = rotate_left(v[3], 21) ^ v[0];
        v[2] = rotate_left(v[2], 32);
    }
}

static void take_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_rounds(v, 2);
    v[0] ^= word;
}

uint64_t espi_mac(const unsigned char key[ESPI_KEY_BYTES], const void *data,
                  size_t length)
{
    uint64_t k0 = read_word(key, 8), k1 = read_word(key + 8, 8);
    uint64_t v[4] = {k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du,
                     k0 ^ 0x6c7967656e657261u, k1 ^ 0x7465646279746573u};
    const unsigned char *at = data;
    size_t left = length;
    for (; left >= 8; at += 8, left -= 8)
        take_word(v, read_word(at, 8));
    take_word(v, read_word(at, left) | (uint64_t)length << 56);
    v[2] ^= 0xff;
    sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

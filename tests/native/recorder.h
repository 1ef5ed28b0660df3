/* What recorder.c has for calls.c, which finds it by name. */
#ifndef TESTS_NATIVE_RECORDER_H
#define TESTS_NATIVE_RECORDER_H

#include <stdio.h>

/* Until the next call, whatever is sent goes to that rank; -1: nothing is to be learned.
 */
void recorder_learn(int peer);

/* From now on; the rank of a message's sender is in its tag, from that bit on. */
void recorder_begin(int shift);

/* Writes what was started since: "send RANK BYTES" (-1: not known), "recv RANK". */
void recorder_end(FILE *out);

#endif

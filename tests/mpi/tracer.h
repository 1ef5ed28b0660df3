/* A tool by the profiling interface that counts calls: which it knows, and how it
 * answers. preload/tracer.c is the tool, traced.c a program that asks it. */
#ifndef TESTS_MPI_TRACER_H
#define TESTS_MPI_TRACER_H

/* How often MPI_NAME was called; -1: that is none that it counts. */
long tracer_count(const char *name);

#endif

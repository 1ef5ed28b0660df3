/* espalier: plans collective communication for networks whose machines are not equal.
 * This is the only header to include; the others are its chapters. */
#ifndef ESPALIER_H
#define ESPALIER_H

#include <espalier/status.h>
#include <espalier/platform.h>
#include <espalier/plan.h>
#include <espalier/simulate.h>
#include <espalier/algo.h>
#include <espalier/generate.h>
#include <espalier/bound.h>
#include <espalier/program.h>
#include <espalier/samples.h>
#include <espalier/picture.h>

#endif

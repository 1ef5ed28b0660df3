/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_LIVE_TUNING_H
#define ESPI_LIVE_TUNING_H

/* Between two looks at the belief, for the live page.
 * unit: s
 * trades: larger, the page lags behind; smaller, processor time of the advisor
 * shown by: build/release/tests/test_live
 * chosen on: not measured */
#define ESPI_LIVE_LOOK_S 0.5

/* Forecasts for the page may take this part of the advisor's time.
 * unit: 1
 * trades: larger, plans come late because somebody watches; smaller, forecasts are
 * missing on the page
 * shown by: build/release/tests/test_live
 * chosen on: not measured */
#define ESPI_LIVE_THOUGHT_PART 0.05

/* A connection without a byte for so long is closed.
 * unit: s
 * trades: larger, idle ones keep others out; smaller, browsers connect again and again
 * shown by: build/release/tests/test_live_server
 * chosen on: not measured */
enum { ESPI_LIVE_IDLE_S = 15 };

/* A connection that has not ended a request for so long is cut off.
 * unit: s
 * trades: larger, a few slow ones keep others out for longer; smaller, slow networks are
 * cut off
 * shown by: build/release/tests/test_live_server
 * chosen on: not measured */
#define ESPI_LIVE_REQUEST_S 20.0

#endif

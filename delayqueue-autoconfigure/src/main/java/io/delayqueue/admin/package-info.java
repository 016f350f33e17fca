/**
 * Inspects and repairs queues: overviews, listings, forecasts and integrity reports, for
 * operators and tools.
 */
@NullMarked
package io.delayqueue.admin;

import org.jspecify.annotations.NullMarked;

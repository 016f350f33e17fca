/**
 * Serves the dashboard and its data.
 */
@NullMarked
package io.delayqueue.web.dashboard;

import org.jspecify.annotations.NullMarked;

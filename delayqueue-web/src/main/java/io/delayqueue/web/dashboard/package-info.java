/**
 * Serves the dashboard and its data. Start at {@code Dashboard}, which adds its routes;
 * {@code DashboardFiles} serves the page, and {@code OverviewCache} its first data.
 */
@NullMarked
package io.delayqueue.web.dashboard;

import org.jspecify.annotations.NullMarked;

/**
 * Implements the routes of the HTTP API, one class {@code ...Routes} for each resource.
 * Start at {@code MessageRoutes}.
 */
@NullMarked
package io.delayqueue.web.api;

import org.jspecify.annotations.NullMarked;

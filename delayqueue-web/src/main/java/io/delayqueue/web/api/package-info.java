/**
 * Implements the routes of the HTTP API.
 */
@NullMarked
package io.delayqueue.web.api;

import org.jspecify.annotations.NullMarked;

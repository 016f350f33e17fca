/**
 * Handles requests and responses: routing, authorization, JSON and problem details. Start
 * at {@code RequestDispatcher}, which finds the route of a request in the
 * {@code RouteTable}.
 */
@NullMarked
package io.delayqueue.web.http;

import org.jspecify.annotations.NullMarked;

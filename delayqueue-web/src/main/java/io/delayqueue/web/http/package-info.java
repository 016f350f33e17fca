/**
 * Handles requests and responses: routing, authorization, JSON and problem details.
 */
@NullMarked
package io.delayqueue.web.http;

import org.jspecify.annotations.NullMarked;

/**
 * The HTTP API, for producers, consumers and operators in any language. Start at
 * {@link io.delayqueue.web.HttpApi}, which answers every request; {@code ApiRoutes} is
 * the table of what there is and who may do it; {@code LongPolls} lets requests wait for
 * messages without a thread.
 * <p>
 * Needs Spring MVC on a servlet container, and knows nothing of Boot. JSON is read and
 * written by a mapper of its own: what an application sets for its own does not change
 * this contract. Everything that comes from outside is checked before the store hears of
 * it, and nothing that it says is repeated but in JSON strings.
 */
@NullMarked
package io.delayqueue.web;

import org.jspecify.annotations.NullMarked;

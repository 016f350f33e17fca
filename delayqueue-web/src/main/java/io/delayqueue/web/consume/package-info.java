/**
 * Claims and settles messages for HTTP consumers, with long polling.
 */
@NullMarked
package io.delayqueue.web.consume;

import org.jspecify.annotations.NullMarked;

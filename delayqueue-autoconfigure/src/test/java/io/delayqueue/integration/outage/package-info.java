/** Tests applications while Redis is away, full, or loses replies. */
@NullMarked
package io.delayqueue.integration.outage;

import org.jspecify.annotations.NullMarked;

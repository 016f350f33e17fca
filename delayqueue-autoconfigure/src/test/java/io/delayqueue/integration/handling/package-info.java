/** Tests sending and handling with whole applications on real Redis servers. */
@NullMarked
package io.delayqueue.integration.handling;

import org.jspecify.annotations.NullMarked;

/** Tests meters, health, inspection and bulk operations on real Redis servers. */
@NullMarked
package io.delayqueue.integration.observation;

import org.jspecify.annotations.NullMarked;

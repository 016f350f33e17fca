/**
 * Breaks nodes, Redis and the network under load, and checks the recorded history; see
 * docs/reliability.md.
 */
@NullMarked
package io.delayqueue.integration.faults;

import org.jspecify.annotations.NullMarked;

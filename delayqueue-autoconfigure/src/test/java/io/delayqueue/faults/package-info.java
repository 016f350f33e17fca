/**
 * Processes that are broken on purpose, under load, and a judge of what they did: see
 * docs/reliability.md. A {@link io.delayqueue.faults.FaultRun} starts Redis and nodes,
 * faults break them, and the {@link io.delayqueue.faults.Judge} reads the history that
 * all have written.
 */
@NullMarked
package io.delayqueue.faults;

import org.jspecify.annotations.NullMarked;

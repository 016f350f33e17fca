/**
 * The port of a store for schedules, and its values. Begin with
 * {@link io.delayqueue.store.schedule.ScheduleStore}.
 */
@NullMarked
package io.delayqueue.store.schedule;

import org.jspecify.annotations.NullMarked;

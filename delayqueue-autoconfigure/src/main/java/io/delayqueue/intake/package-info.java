/**
 * Schedules messages that come from brokers, which so get a delay that the broker does
 * not have. Start at {@code KafkaIntake} or {@code RabbitIntake}; both use
 * {@link io.delayqueue.intake.IntakeScheduler}.
 */
@NullMarked
package io.delayqueue.intake;

import org.jspecify.annotations.NullMarked;

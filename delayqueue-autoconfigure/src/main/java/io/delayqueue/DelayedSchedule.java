package io.delayqueue;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.messaging.handler.annotation.MessageMapping;

/**
 * Declares a schedule that sends a message to the queue of a listener method at each of
 * its times, once whatever the number of nodes; times that are skipped are counted.
 * <pre class="code">
 * &#64;DelayedListener("reports")
 * &#64;DelayedSchedule(name = "daily-report", cron = "0 0 6 * * MON-FRI", zone = "Europe/Berlin")
 * void report(ScheduledOccurrence occurrence) {
 *     reports.create(occurrence.nominalTime());
 * }
 * </pre> On a method with {@link DelayedListener}, the schedule belongs to the listener's
 * queue. On a method without, {@link #queue()} is needed, and the method also listens to
 * it.
 * <p>
 * A schedule that is declared belongs to the application, which is known by
 * {@code spring.application.name}. If nodes declare different definitions, as during a
 * rolling deployment, the newest definition applies. A schedule is removed when nodes of
 * an application with a name have run for an hour, and none has declared it.
 * <p>
 * Every attribute resolves <code>${...}</code> and <code>#{...}</code>. Can be used as a
 * meta-annotation, and more than once on a method.
 *
 * @see ScheduledOccurrence
 * @see ScheduleOperations
 */
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@MessageMapping
@Repeatable(DelayedSchedules.class)
public @interface DelayedSchedule {

    /**
     * Name of the schedule, unique in its queue: 1 to 100 letters, digits and
     * {@code . _ : / + = -}.
     */
    String name();

    /**
     * Cron expression with six fields, from seconds to the day of the week, as
     * {@link org.springframework.scheduling.annotation.Scheduled#cron()} has it, or a
     * macro such as {@code @daily}. {@code "-"} disables the schedule. Either this or
     * {@link #fixedRate()} is needed.
     */
    String cron() default "";

    /**
     * Interval such as {@code 30s}, {@code PT1H} or {@code 1d}, at least 100 ms. The
     * times are the multiples of the interval since the epoch: {@code 1h} means each full
     * hour in UTC.
     */
    String fixedRate() default "";

    /**
     * Time zone of the cron expression, such as {@code Europe/Berlin}; UTC if empty. A
     * local time that a change of the clocks skips has no occurrence, and one that it
     * repeats has two.
     */
    String zone() default "";

    /**
     * The queue to which it sends. If empty, that of the {@link DelayedListener} on the
     * method, which must have one queue then.
     */
    String queue() default "";

    /** Payload of each occurrence, as JSON; <code>{}</code> if empty. */
    String payload() default "";

    /** One of {@link MisfirePolicy}, by name, for occurrences that were missed. */
    String misfire() default "ONCE";

    /**
     * How many missed occurrences are made up for with {@link MisfirePolicy#ALL}, and how
     * many occurrences the queue may hold, 1 to 1,000; 100 if empty.
     */
    String catchUpLimit() default "";

    /**
     * How long after its nominal time, and its delay by the jitter, an occurrence may
     * still be handled; without limit if empty.
     */
    String timeToLive() default "";

    /**
     * One of {@link OverlapPolicy}, by name, for an occurrence that is due while the
     * queue holds earlier ones.
     */
    String overlap() default "ALLOW";

    /** By how much each occurrence is delayed at random, at most; zero if empty. */
    String jitter() default "";

}

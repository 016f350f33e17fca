package io.delayqueue.admin;

/**
 * Holds the number of waiting messages of a queue by due time. Each message is counted
 * once.
 *
 * @param queue the queue
 * @param overdue already due
 * @param minute due within the next minute
 * @param hour due within the next hour, and not within the minute
 * @param day due within the next 24 hours, and not within the hour
 * @param week due within the next seven days, and not within the day
 * @param later due after that
 * @param waitingInGroup those that wait in their group, regardless of their due time
 * @see DelayQueueInspector#dueForecast
 */
public record DueForecast(String queue, long overdue, long minute, long hour, long day, long week, long later,
        long waitingInGroup) {
}

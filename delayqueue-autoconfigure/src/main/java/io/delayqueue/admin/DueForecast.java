package io.delayqueue.admin;

/**
 * How many messages of a queue that wait are due when. Each message is counted once.
 *
 * @param queue the queue
 * @param overdue due now or before
 * @param minute due within the next minute
 * @param hour due within the next hour, and not within the minute
 * @param day due within the next 24 hours, and not within the hour
 * @param week due within the next seven days, and not within the day
 * @param later due after that
 * @param followers those that wait behind another of their group, whenever they are due
 */
public record DueForecast(String queue, long overdue, long minute, long hour, long day, long week, long later,
        long followers) {
}

package io.delayqueue.sample;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.stereotype.Component;

/**
 * Remembers the latest events and writes them to the log.
 * <p>
 * <strong>Threads.</strong> All. Locked, because a reader of event 7 must never miss an
 * event 6 that comes later.
 */
@Component
class EventLog {

    private static final Logger logger = LoggerFactory.getLogger(EventLog.class);

    private static final int REMEMBERED = 200;

    private final Deque<ShopEvent> latest = new ArrayDeque<>();

    private long count;

    void add(ShopEvent.Kind kind, @Nullable String orderId, String text) {
        add(kind, orderId, text, null);
    }

    synchronized void add(ShopEvent.Kind kind, @Nullable String orderId, String text, @Nullable Duration lateness) {
        Long millis = (lateness != null) ? lateness.toMillis() : null;
        this.count++;
        this.latest.addLast(new ShopEvent(this.count, Instant.now(), kind, orderId, text, millis));
        if (this.latest.size() > REMEMBERED) {
            this.latest.removeFirst();
        }
        logger.info("{}{}: {}{}", kind, (orderId != null) ? " order " + orderId : "", text,
                (millis != null) ? " (" + millis + " ms after it was due)" : "");
    }

    /** The remembered events with a number above {@code number}, the oldest first. */
    synchronized List<ShopEvent> after(long number) {
        return this.latest.stream().filter((event) -> event.number() > number).toList();
    }

}

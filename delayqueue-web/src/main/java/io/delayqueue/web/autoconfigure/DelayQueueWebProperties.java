package io.delayqueue.web.autoconfigure;

import java.time.Duration;

import io.delayqueue.MessageLimits;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.Texts;
import io.delayqueue.web.consume.ClaimLimits;
import io.delayqueue.web.http.ApiSettings;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * Holds the settings of the HTTP API and the dashboard, checked when the application
 * starts. Only Spring Boot constructs these records.
 *
 * @param insecureLocal Whether every local user may use the HTTP API and the dashboard
 * without authentication. Only permitted if the server listens on loopback.
 * @param api Settings of the HTTP API.
 * @param dashboard Settings of the dashboard.
 */
@ConfigurationProperties("delayqueue.web")
record DelayQueueWebProperties(@DefaultValue("false") boolean insecureLocal, @DefaultValue Api api,
        @DefaultValue Dashboard dashboard) {

    private static void require(boolean met, String property, String rule, Object value) {
        if (!met) {
            throw new IllegalArgumentException("%s must be %s, but was %s".formatted(property, rule,
                    (value instanceof Duration span) ? Texts.span(span) : value));
        }
    }

    private static void requirePath(String property, String path) {
        require(path.matches("(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+"), property,
                "a path such as /delayqueue, of A-Z a-z 0-9 . _ ~ - and without a slash at its end", path);
    }

    private static void requireWithin(String property, Duration value, Duration shortest, Duration longest) {
        require(value.compareTo(shortest) >= 0 && value.compareTo(longest) <= 0, property,
                "%s to %s".formatted(Texts.span(shortest), Texts.span(longest)), value);
    }

    private static void requireWithin(String property, int value, int most) {
        require(value >= 1 && value <= most, property, "1 to %d".formatted(most), value);
    }

    /**
     * Settings of the HTTP API.
     *
     * @param enabled Whether to serve the HTTP API. Requires Spring MVC, and Spring
     * Security unless insecure-local is set.
     * @param path Path of the HTTP API.
     * @param maxBodySize Maximum size of a request body.
     * @param maxBatch Maximum number of messages of one request, and of one claim.
     * @param maxPageSize Maximum number of entries of a page.
     * @param maxDelay Maximum delay of a message that is sent, rescheduled, retried or
     * released.
     * @param maxWait Maximum time that a claim may wait for a message.
     * @param maxLease Maximum lease that a claim may request.
     * @param maxWaiting Maximum number of claims that wait at the same time in this
     * process.
     * @param maxWaitingPerQueue Maximum number of waiting claims of one queue.
     */
    record Api(@DefaultValue("false") boolean enabled, @DefaultValue("/delayqueue/api") String path,
            @DefaultValue("1MB") DataSize maxBodySize, @DefaultValue("100") int maxBatch,
            @DefaultValue("100") int maxPageSize, @DefaultValue("36500d") Duration maxDelay,
            @DefaultValue("60s") Duration maxWait, @DefaultValue("1h") Duration maxLease,
            @DefaultValue("1000") int maxWaiting, @DefaultValue("500") int maxWaitingPerQueue) {

        private static final String PREFIX = "delayqueue.web.api.";

        private static final int MAX_WAITING = 100_000;

        private static final DataSize MAX_BODY = DataSize.ofMegabytes(64);

        Api {
            requirePath(PREFIX + "path", path);
            require(maxBodySize.toBytes() >= 1024 && maxBodySize.compareTo(MAX_BODY) <= 0, PREFIX + "max-body-size",
                    "1KB to 64MB", maxBodySize);
            requireWithin(PREFIX + "max-batch", maxBatch, MessageStore.BATCH_LIMIT);
            requireWithin(PREFIX + "max-page-size", maxPageSize, MessageStore.BATCH_LIMIT);
            requireWithin(PREFIX + "max-delay", maxDelay, Duration.ZERO, MessageLimits.MAX_DURATION);
            requireWithin(PREFIX + "max-wait", maxWait, Duration.ZERO, Duration.ofHours(1));
            requireWithin(PREFIX + "max-lease", maxLease, Duration.ofSeconds(1), MessageLimits.MAX_DURATION);
            requireWithin(PREFIX + "max-waiting", maxWaiting, MAX_WAITING);
            requireWithin(PREFIX + "max-waiting-per-queue", maxWaitingPerQueue, MAX_WAITING);
        }

        ApiSettings settings() {
            return new ApiSettings(this.path, (int) this.maxBodySize.toBytes(), this.maxBatch, this.maxPageSize,
                    this.maxDelay, this.maxWait, this.maxLease);
        }

        ClaimLimits waitLimits() {
            return new ClaimLimits(this.maxWaiting, this.maxWaitingPerQueue);
        }

    }

    /**
     * Settings of the dashboard.
     *
     * @param enabled Whether to serve the dashboard. Requires Spring MVC, and Spring
     * Security unless insecure-local is set.
     * @param path Path of the dashboard.
     * @param latenessObjective Lateness up to which the dashboard shows a queue as on
     * time.
     */
    record Dashboard(@DefaultValue("false") boolean enabled, @DefaultValue("/delayqueue") String path,
            @DefaultValue("5s") Duration latenessObjective) {

        Dashboard {
            requirePath("delayqueue.web.dashboard.path", path);
            requireWithin("delayqueue.web.dashboard.lateness-objective", latenessObjective, Duration.ofMillis(1),
                    Duration.ofDays(1));
        }

    }

}

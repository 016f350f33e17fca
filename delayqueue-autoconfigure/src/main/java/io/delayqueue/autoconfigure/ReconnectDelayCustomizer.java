package io.delayqueue.autoconfigure;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;

import org.springframework.boot.data.redis.autoconfigure.ClientResourcesBuilderCustomizer;
import org.springframework.core.Ordered;

/**
 * Limits how long Lettuce waits before it reconnects. By default the wait grows up to 30
 * seconds while Redis is unavailable, which would also delay messages after Redis is
 * back. Each wait is random in the upper half of its range, so that many nodes do not
 * reconnect at the same time.
 * <p>
 * Runs before all other customizers, so that those of the application take precedence.
 */
final class ReconnectDelayCustomizer implements ClientResourcesBuilderCustomizer, Ordered {

    private static final long FIRST_MILLIS = 4;

    private final Duration longest;

    /**
     * Creates a customizer.
     * @param longest the longest wait; zero to change nothing
     */
    ReconnectDelayCustomizer(Duration longest) {
        this.longest = longest;
    }

    @Override
    public void customize(ClientResources.Builder resources) {
        if (!this.longest.isZero()) {
            resources.reconnectDelay(
                    Delay.fullJitter(Duration.ofMillis(1), this.longest, FIRST_MILLIS, TimeUnit.MILLISECONDS));
        }
    }

    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }

}

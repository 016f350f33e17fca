package io.delayqueue.autoconfigure;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;

import org.springframework.boot.data.redis.autoconfigure.ClientResourcesBuilderCustomizer;
import org.springframework.core.Ordered;

/**
 * Bounds how long Lettuce waits before it tries to connect again: by itself it waits the
 * longer the longer Redis is away, up to 30 seconds, and so messages would too, after
 * Redis is back. Each wait is a random one of the upper half of its range, so that the
 * connections of many nodes do not come in one moment.
 * <p>
 * The first of all customizers: what the application's own say comes later, and counts.
 */
final class ReconnectDelayCustomizer implements ClientResourcesBuilderCustomizer, Ordered {

    private static final long FIRST_MILLIS = 4;

    private final Duration longest;

    /**
     * Makes a customizer.
     * @param longest zero to change nothing
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

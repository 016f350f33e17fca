package io.delayqueue.autoconfigure;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Holds the settings of a queue whose due messages are forwarded to a broker.
 *
 * @param to Target of the messages: kafka:topic::key-expression,
 * rabbit:exchange/routing-key, channel:name, or bean:name.
 * @param unconfirmed Whether a message may be acknowledged without the confirmation of a
 * broker, which a message channel cannot give.
 * @param timeout Longest time to wait for the confirmation of the broker. After it, the
 * broker counts as unavailable.
 */
public record ForwardSettings(@Nullable String to, @DefaultValue("false") boolean unconfirmed,
        @DefaultValue("15s") Duration timeout) {
}

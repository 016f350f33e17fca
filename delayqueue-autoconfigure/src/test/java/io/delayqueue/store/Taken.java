package io.delayqueue.store;

import java.nio.charset.StandardCharsets;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

/** A claimed message, in a form that can be compared. */
record Taken(Lease lease, Instant dueAt, int failures, int lapses, boolean suspect, @Nullable Instant expiresAt,
        @Nullable String group, String content) {

    static Taken of(ClaimedMessage message) {
        String envelope = new String(message.envelope(), StandardCharsets.UTF_8);
        return new Taken(message.lease(), message.dueAt(), message.failures(), message.lapses(), message.suspect(),
                message.expiresAt(), message.group(), envelope.replaceAll("^.*\"payload\":\"(.*)\"}$", "$1"));
    }

}

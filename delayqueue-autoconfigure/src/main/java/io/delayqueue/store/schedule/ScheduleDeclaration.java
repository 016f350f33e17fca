package io.delayqueue.store.schedule;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

import io.delayqueue.ScheduleDefinition;

/**
 * Holds a schedule that the code of this application declares.
 *
 * @param definition its definition
 * @param stored the definition as {@link DefinitionCodec} writes it
 * @param fingerprint identifies the definition among those that nodes declare
 */
record ScheduleDeclaration(ScheduleDefinition definition, String stored, String fingerprint) {

    private static final int LENGTH = 16;

    static ScheduleDeclaration of(ScheduleDefinition definition, String stored) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(stored.getBytes(StandardCharsets.UTF_8));
            return new ScheduleDeclaration(definition, stored, HexFormat.of().formatHex(digest).substring(0, LENGTH));
        }
        catch (NoSuchAlgorithmException ex) {
            throw new IllegalStateException("Every JVM supports SHA-256", ex);
        }
    }

}

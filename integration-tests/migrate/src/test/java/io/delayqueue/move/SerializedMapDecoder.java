package io.delayqueue.move;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.migrate.PayloadDecoder;
import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.jdbc.QuartzData;

/**
 * Decodes data maps that Quartz has serialized, as a user's decoder does. It reads the
 * one value that it needs, and deserializes no objects.
 */
public class SerializedMapDecoder implements PayloadDecoder {

    private static final Pattern NUMBER = Pattern.compile("order \"(\\d+)\"");

    @Override
    public Object decode(SourceEntry entry) {
        QuartzData data = QuartzData.of(entry);
        String bytes = new String(data.job(), StandardCharsets.UTF_8)
                + new String(data.trigger(), StandardCharsets.UTF_8);
        Matcher matcher = NUMBER.matcher(bytes);
        if (!matcher.find()) {
            throw new IllegalArgumentException("it has no number");
        }
        return Map.of("number", Long.parseLong(matcher.group(1)), "note",
                "order \"" + matcher.group(1) + "\" für Müller");
    }

}

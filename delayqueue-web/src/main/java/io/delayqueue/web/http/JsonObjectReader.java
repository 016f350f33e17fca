package io.delayqueue.web.http;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Reads and validates the fields of a JSON object. Rejects unknown fields, which may be
 * misspelt. {@code null} counts as absent.
 */
public final class JsonObjectReader {

    private final JsonNode json;

    private final String place;

    /**
     * Checks that the value is an object with known fields only.
     * @param place prefix of field names in problems, such as {@code messages[3].}
     */
    public JsonObjectReader(JsonNode json, String place, Set<String> known) {
        if (!json.isObject()) {
            throw ProblemException.invalid("%s is not valid: use a JSON object, not %s"
                .formatted(place.isEmpty() ? "The body" : place.substring(0, place.length() - 1), Json.kind(json)));
        }
        json.propertyNames().stream().filter((name) -> !known.contains(name)).findFirst().ifPresent((name) -> {
            throw ProblemException.invalid("Field %s is not known: use %s".formatted(Json.quoted(place + name),
                    String.join(", ", known.stream().sorted().toList())));
        });
        this.json = json;
        this.place = place;
    }

    public @Nullable JsonNode value(String name) {
        JsonNode value = this.json.get(name);
        return (value == null || value.isNull()) ? null : value;
    }

    public @Nullable String text(String name) {
        JsonNode value = value(name);
        if (value != null && !value.isString()) {
            throw wrong(name, "a string", value);
        }
        return (value != null) ? value.stringValue() : null;
    }

    /**
     * Returns a text of limited length.
     * @param maxLength most characters, each counted once, as JSON Schema does
     */
    public String text(String name, int maxLength) {
        String text = text(name);
        if (text == null) {
            throw ProblemException.invalid("Field '%s%s' is needed".formatted(this.place, name));
        }
        int length = text.codePointCount(0, text.length());
        if (length > maxLength) {
            throw ProblemException.invalid("Field '%s%s' is not valid: use at most %d characters, not %d"
                .formatted(this.place, name, maxLength, length));
        }
        return text;
    }

    public boolean flag(String name) {
        return Boolean.TRUE.equals(flagOrNull(name));
    }

    /** Returns a flag; {@code null} if it is absent. */
    public @Nullable Boolean flagOrNull(String name) {
        JsonNode value = value(name);
        if (value == null) {
            return null;
        }
        if (!value.isBoolean()) {
            throw wrong(name, "true or false", value);
        }
        return value.booleanValue();
    }

    public @Nullable Integer integer(String name) {
        JsonNode value = value(name);
        if (value == null) {
            return null;
        }
        if (!value.isIntegralNumber() || !value.canConvertToInt()) {
            throw wrong(name, "an integer", value);
        }
        return value.intValue();
    }

    /** Returns a duration in milliseconds; {@code null} if it is absent. */
    public @Nullable Duration millis(String name) {
        JsonNode value = value(name);
        if (value == null) {
            return null;
        }
        if (!value.isIntegralNumber() || !value.canConvertToLong()) {
            throw wrong(name, "an integer, in milliseconds", value);
        }
        return Duration.ofMillis(value.longValue());
    }

    /** Returns a duration within the bounds, or {@code absent}. */
    public Duration millis(String name, Duration absent, Duration shortest, Duration longest) {
        Duration span = millis(name, shortest, longest);
        return (span != null) ? span : absent;
    }

    /** Returns a duration within the bounds; {@code null} if it is absent. */
    public @Nullable Duration millis(String name, Duration shortest, Duration longest) {
        Duration span = millis(name);
        if (span != null && (span.compareTo(shortest) < 0 || span.compareTo(longest) > 0)) {
            throw ProblemException.invalid("Field '%s%s' is not valid: use %d to %d ms, not %d".formatted(this.place,
                    name, shortest.toMillis(), longest.toMillis(), span.toMillis()));
        }
        return span;
    }

    public @Nullable Instant instant(String name) {
        String text = text(name);
        try {
            return (text != null) ? Instant.parse(text) : null;
        }
        catch (DateTimeException ex) {
            throw ProblemException
                .invalid("Field '%s%s' is not valid: use a time such as 2026-01-31T23:59:59.123Z, not %s"
                    .formatted(this.place, name, Json.quoted(String.valueOf(text))));
        }
    }

    public <E extends Enum<E>> E choice(String name, E absent) {
        String text = text(name);
        if (text == null) {
            return absent;
        }
        List<E> all = List.of(absent.getDeclaringClass().getEnumConstants());
        return all.stream()
            .filter((one) -> one.name().equals(text))
            .findFirst()
            .orElseThrow(() -> ProblemException.invalid("Field '%s%s' is not valid: use one of %s, not %s"
                .formatted(this.place, name, all, Json.quoted(text))));
    }

    public Map<String, String> texts(String name) {
        JsonNode value = value(name);
        Map<String, String> texts = new LinkedHashMap<>();
        if (value == null) {
            return texts;
        }
        if (!value.isObject()) {
            throw wrong(name, "an object of strings", value);
        }
        value.properties().forEach((entry) -> {
            if (!entry.getValue().isString()) {
                throw wrong(name, "an object of strings", entry.getValue());
            }
            texts.put(entry.getKey(), entry.getValue().stringValue());
        });
        return texts;
    }

    /** Returns the strings of an array, 1 to {@code most}. */
    public List<String> strings(String name, int most) {
        JsonNode value = value(name);
        if (value == null || !value.isArray() || value.isEmpty() || value.size() > most) {
            throw ProblemException
                .invalid("Field '%s%s' is not valid: use an array of 1 to %d strings, not %s".formatted(this.place,
                        name, most, (value == null) ? "nothing" : Json.kind(value) + " of " + value.size()));
        }
        List<String> strings = new ArrayList<>();
        for (JsonNode entry : value) {
            if (!entry.isString()) {
                throw wrong(name, "an array of strings", entry);
            }
            strings.add(entry.stringValue());
        }
        return strings;
    }

    /** Returns the objects of an array, 1 to {@code most}. */
    public List<JsonObjectReader> objects(String name, int most, Set<String> known) {
        JsonNode value = value(name);
        if (value == null || !value.isArray() || value.isEmpty() || value.size() > most) {
            throw ProblemException
                .invalid("Field '%s%s' is not valid: use an array of 1 to %d objects, not %s".formatted(this.place,
                        name, most, (value == null) ? "nothing" : Json.kind(value) + " of " + value.size()));
        }
        List<JsonObjectReader> objects = new ArrayList<>();
        for (int i = 0; i < value.size(); i++) {
            objects.add(new JsonObjectReader(value.get(i), "%s%s[%d].".formatted(this.place, name, i), known));
        }
        return objects;
    }

    /** Returns the prefix of field names, for problems that a caller detects. */
    public String place() {
        return this.place;
    }

    private ProblemException wrong(String name, String rule, JsonNode value) {
        return ProblemException
            .invalid("Field '%s%s' is not valid: use %s, not %s".formatted(this.place, name, rule, Json.kind(value)));
    }

}

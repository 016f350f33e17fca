package io.delayqueue.migrate;

import java.util.Map;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * Holds the options of the command line that concern a source.
 *
 * @param url the address of the source; may contain credentials, so it must not be
 * printed or logged
 * @param user the user name, which overrides that of the URL; {@code null} if none is
 * given
 * @param password the password, which overrides that of the URL; {@code null} if none is
 * given
 * @param settings the values of {@code --source-option=name=value}
 */
public record SourceOptions(String url, @Nullable String user, @Nullable String password,
        Map<String, String> settings) {

    public SourceOptions {
        settings = Map.copyOf(settings);
    }

    /** Returns the value of a setting; empty if it is not given. */
    public Optional<String> setting(String name) {
        return Optional.ofNullable(this.settings.get(name));
    }

    /**
     * Returns the value of a setting.
     * @throws IllegalArgumentException if it is not given
     */
    public String required(String name) {
        return setting(name).orElseThrow(() -> new IllegalArgumentException(
                "This source needs --source-option=%s=VALUE, which is not given".formatted(name)));
    }

    /** Describes the options without addresses and credentials. */
    @Override
    public String toString() {
        return "SourceOptions[settings=%s]".formatted(this.settings.keySet());
    }

}

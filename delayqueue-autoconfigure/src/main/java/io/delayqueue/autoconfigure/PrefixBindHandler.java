package io.delayqueue.autoconfigure;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.core.NestedExceptionUtils;

/**
 * Writes the prefix of a further queue system into the reasons for which
 * {@link DelayQueueProperties} rejects its values. Thread-safe.
 */
final class PrefixBindHandler implements BindHandler {

    private static final Pattern PROPERTY = Pattern
        .compile("(?<=^| )" + Pattern.quote(DelayQueueProperties.PREFIX) + "(?=\\.[a-z])");

    private final String prefix;

    PrefixBindHandler(String prefix) {
        this.prefix = prefix;
    }

    @Override
    public Object onFailure(ConfigurationPropertyName name, Bindable<?> target, BindContext context, Exception error)
            throws Exception {
        Throwable reason = NestedExceptionUtils.getMostSpecificCause(error);
        String text = String.valueOf(reason.getMessage());
        if (reason instanceof IllegalArgumentException && text.startsWith(DelayQueueProperties.PREFIX + ".")) {
            // Without a cause, as Boot shows the last one.
            throw new IllegalArgumentException(
                    PROPERTY.matcher(text).replaceAll(Matcher.quoteReplacement(this.prefix)));
        }
        throw error;
    }

}

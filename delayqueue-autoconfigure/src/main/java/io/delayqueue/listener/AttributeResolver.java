package io.delayqueue.listener;

import java.lang.reflect.Array;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.BeanExpressionContext;
import org.springframework.beans.factory.config.BeanExpressionResolver;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.Assert;
import org.springframework.util.StringUtils;

/**
 * Resolves the attributes of annotations: placeholders, then SpEL expressions, then the
 * conversion to the type. Throws an {@link IllegalArgumentException} that names the
 * attribute, its value and the rule if one is invalid.
 */
final class AttributeResolver {

    private final @Nullable ConfigurableBeanFactory beanFactory;

    /**
     * Creates a resolver.
     * @param beanFactory resolves expressions; {@code null} to leave them as they are
     */
    AttributeResolver(@Nullable ConfigurableBeanFactory beanFactory) {
        this.beanFactory = beanFactory;
    }

    @Nullable String text(String attribute, String value) {
        Object resolved = resolve(attribute, value);
        String text = (resolved != null) ? resolved.toString().trim() : "";
        return text.isEmpty() ? null : text;
    }

    @Nullable Integer integer(String attribute, String value) {
        return convert(attribute, value, "a whole number", Integer::valueOf);
    }

    @Nullable Double decimal(String attribute, String value) {
        return convert(attribute, value, "a number", Double::valueOf);
    }

    @Nullable Boolean bool(String attribute, String value) {
        return convert(attribute, value, "true or false", (text) -> {
            Assert.isTrue(text.equalsIgnoreCase("true") || text.equalsIgnoreCase("false"), text);
            return Boolean.valueOf(text);
        });
    }

    @Nullable Duration duration(String attribute, String value) {
        return convert(attribute, value, "a duration such as 500ms, 30s or PT1M",
                DurationFormatterUtils::detectAndParse);
    }

    <T> @Nullable T convert(String attribute, String value, String rule, Function<String, T> conversion) {
        String text = text(attribute, value);
        try {
            return (text != null) ? conversion.apply(text) : null;
        }
        catch (IllegalArgumentException | ArithmeticException ex) {
            throw new IllegalArgumentException("%s must be %s, but was '%s'%s".formatted(attribute, rule, text,
                    value.equals(text) ? "" : " (from '%s')".formatted(value)), ex);
        }
    }

    /** Returns all values of a list, each element of which may yield several. */
    List<String> texts(String attribute, String[] values) {
        List<String> texts = new ArrayList<>();
        for (String value : values) {
            flatten(resolve(attribute, value), texts);
        }
        return texts;
    }

    private static void flatten(@Nullable Object value, List<String> texts) {
        if (value instanceof Iterable<?> elements) {
            elements.forEach((element) -> flatten(element, texts));
        }
        else if (value != null && value.getClass().isArray()) {
            for (int i = 0; i < Array.getLength(value); i++) {
                flatten(Array.get(value, i), texts);
            }
        }
        else if (value != null) {
            texts.addAll(List.of(StringUtils.tokenizeToStringArray(value.toString(), ",")));
        }
    }

    @Nullable Object resolve(String attribute, String value) {
        if (this.beanFactory == null || value.isEmpty()) {
            return value;
        }
        try {
            String embedded = this.beanFactory.resolveEmbeddedValue(value);
            BeanExpressionResolver expressions = this.beanFactory.getBeanExpressionResolver();
            return (expressions != null)
                    ? expressions.evaluate(embedded, new BeanExpressionContext(this.beanFactory, null)) : embedded;
        }
        catch (RuntimeException ex) {
            throw new IllegalArgumentException(
                    "%s '%s' cannot be resolved: %s".formatted(attribute, value, ex.getMessage()), ex);
        }
    }

}

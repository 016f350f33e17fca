package io.delayqueue.listener;

import java.lang.reflect.Array;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanExpressionContext;
import org.springframework.beans.factory.config.BeanExpressionResolver;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.StringUtils;

/**
 * Resolves attributes of annotations: placeholders, then expressions, then the conversion
 * to the type. Throws an {@link IllegalArgumentException} that names the attribute, its
 * value and the rule if one is invalid.
 */
final class AttributeResolver {

    private final @Nullable ConfigurableBeanFactory beanFactory;

    AttributeResolver(@Nullable BeanFactory beanFactory) {
        this.beanFactory = (beanFactory instanceof ConfigurableBeanFactory configurable) ? configurable : null;
    }

    @Nullable String text(String attribute, String value) {
        Object resolved = resolve(attribute, value);
        String text = (resolved != null) ? resolved.toString().trim() : "";
        return text.isEmpty() ? null : text;
    }

    @Nullable Integer integer(String attribute, String value) {
        String text = text(attribute, value);
        try {
            return (text != null) ? Integer.valueOf(text) : null;
        }
        catch (NumberFormatException ex) {
            throw invalid(attribute, value, text, "a whole number", ex);
        }
    }

    @Nullable Double decimal(String attribute, String value) {
        String text = text(attribute, value);
        try {
            return (text != null) ? Double.valueOf(text) : null;
        }
        catch (NumberFormatException ex) {
            throw invalid(attribute, value, text, "a number", ex);
        }
    }

    @Nullable Boolean bool(String attribute, String value) {
        String text = text(attribute, value);
        if (text == null) {
            return null;
        }
        if (text.equalsIgnoreCase("true") || text.equalsIgnoreCase("false")) {
            return Boolean.valueOf(text);
        }
        throw invalid(attribute, value, text, "true or false", null);
    }

    @Nullable Duration duration(String attribute, String value) {
        String text = text(attribute, value);
        try {
            return (text != null) ? DurationFormatterUtils.detectAndParse(text) : null;
        }
        catch (IllegalArgumentException | ArithmeticException ex) {
            throw invalid(attribute, value, text, "a duration such as 500ms, 30s or PT1M", ex);
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

    private @Nullable Object resolve(String attribute, String value) {
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

    private static IllegalArgumentException invalid(String attribute, String value, @Nullable String resolved,
            String rule, @Nullable Exception cause) {
        String origin = value.equals(resolved) ? "" : " (from '%s')".formatted(value);
        return new IllegalArgumentException(
                "%s must be %s, but was '%s'%s".formatted(attribute, rule, resolved, origin), cause);
    }

}

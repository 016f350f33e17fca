package io.delayqueue.listener.poll;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.delayqueue.store.MessageStore;
import io.delayqueue.store.Texts;

import org.springframework.messaging.handler.annotation.support.MethodArgumentNotValidException;
import org.springframework.validation.BindingResult;
import org.springframework.validation.FieldError;

/** Formats failures as bounded text to store with a message, without its payload. */
final class FailureSummary {

    /** Maximum characters stored with a dead letter. */
    static final int MAX_CAUSE = 4000;

    private static final int MAX_LINE = MessageStore.MAX_FAILURE;

    private static final Pattern BRACKETS = Pattern.compile("\\[.*]", Pattern.DOTALL);

    private FailureSummary() {
    }

    /** Describes the failure in one line. */
    static String line(Throwable failure) {
        if (failure instanceof MethodArgumentNotValidException invalid && invalid.getBindingResult() != null) {
            return Texts.cut("The payload is not valid: " + errors(invalid.getBindingResult()), MAX_LINE);
        }
        return Texts.cut(String.valueOf(failure).lines().collect(Collectors.joining(" ")), MAX_LINE);
    }

    /** Describes the failure with its stack trace. */
    static String cause(Throwable failure) {
        if (failure instanceof MethodArgumentNotValidException) {
            return line(failure);
        }
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text));
        return Texts.cut(text.toString(), MAX_CAUSE);
    }

    /**
     * Lists fields and rules. The exception's own message quotes the values; field paths
     * contain the keys of maps in brackets, which are removed.
     */
    private static String errors(BindingResult result) {
        return result.getAllErrors()
            .stream()
            .map((error) -> (error instanceof FieldError field)
                    ? "%s %s".formatted(BRACKETS.matcher(field.getField()).replaceAll("[*]"), field.getDefaultMessage())
                    : String.valueOf(error.getDefaultMessage()))
            .sorted()
            .collect(Collectors.joining(", "));
    }

}

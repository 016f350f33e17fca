package io.delayqueue.listener.poll;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.springframework.messaging.handler.annotation.support.MethodArgumentNotValidException;
import org.springframework.validation.BindingResult;
import org.springframework.validation.FieldError;

/** Failures as text that is kept with a message: bounded, and without its payload. */
final class FailureSummary {

    /** Most characters kept with a dead letter. */
    static final int MAX_CAUSE = 4000;

    private static final int MAX_LINE = 500;

    private static final Pattern BRACKETS = Pattern.compile("\\[.*]", Pattern.DOTALL);

    private FailureSummary() {
    }

    /** What went wrong, in a line. */
    static String line(Throwable failure) {
        if (failure instanceof MethodArgumentNotValidException invalid && invalid.getBindingResult() != null) {
            return cut("The payload is not valid: " + errors(invalid.getBindingResult()), MAX_LINE);
        }
        return cut(String.valueOf(failure).lines().collect(Collectors.joining(" ")), MAX_LINE);
    }

    /** What went wrong, with its stack. */
    static String cause(Throwable failure) {
        if (failure instanceof MethodArgumentNotValidException) {
            return line(failure);
        }
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text));
        return cut(text.toString(), MAX_CAUSE);
    }

    static String cut(String text, int length) {
        return (text.length() <= length) ? text : text.substring(0, length - 3) + "...";
    }

    /**
     * Names fields and rules; the exception's own message quotes the values, and keys of
     * maps stand between the brackets of a path.
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

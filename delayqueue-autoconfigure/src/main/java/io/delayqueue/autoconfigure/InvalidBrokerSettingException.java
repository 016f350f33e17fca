package io.delayqueue.autoconfigure;

import org.jspecify.annotations.Nullable;

/** Reports, at startup, a forward or an intake that is not possible as configured. */
final class InvalidBrokerSettingException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    private final String property;

    private final String value;

    private final String problem;

    InvalidBrokerSettingException(String property, String value, String problem, @Nullable Throwable cause) {
        super("%s is '%s', which is not possible: %s".formatted(property, value, problem), cause);
        this.property = property;
        this.value = value;
        this.problem = problem;
    }

    String property() {
        return this.property;
    }

    String value() {
        return this.value;
    }

    String problem() {
        return this.problem;
    }

}

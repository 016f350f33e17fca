package io.delayqueue.listener.handler;

import java.lang.reflect.Method;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/** A {@code @DelayedListener} cannot work as it is declared. Thrown at start. */
public final class InvalidListenerException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    private final String beanName;

    private final String method;

    private final String problem;

    public InvalidListenerException(String beanName, String method, String problem, @Nullable Throwable cause) {
        super("@DelayedListener on method '%s' of bean '%s' is not valid: %s".formatted(method, beanName, problem),
                cause);
        this.beanName = beanName;
        this.method = method;
        this.problem = problem;
    }

    /** Describes a method: its class, its name and the types of its parameters. */
    public static String describe(Method method) {
        return "%s.%s(%s)".formatted(method.getDeclaringClass().getName(), method.getName(),
                Stream.of(method.getParameterTypes()).map(Class::getSimpleName).collect(Collectors.joining(", ")));
    }

    /** The bean. */
    public String beanName() {
        return this.beanName;
    }

    /** The annotated method: its class, its name and the types of its parameters. */
    public String method() {
        return this.method;
    }

    /** What is wrong, with the attribute, its value and the rule. */
    public String problem() {
        return this.problem;
    }

}

package io.delayqueue.listener.handler;

import java.lang.reflect.Method;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/** Reports, at startup, a {@code @DelayedListener} whose declaration is invalid. */
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

    /** Returns the name of the bean. */
    public String beanName() {
        return this.beanName;
    }

    /** Returns the annotated method: its class, its name and its parameter types. */
    public String method() {
        return this.method;
    }

    /** Returns the problem, with the attribute, its value and the rule. */
    public String problem() {
        return this.problem;
    }

}

package io.delayqueue.listener.handler;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.Map;
import java.util.stream.Stream;

import io.delayqueue.Delivery;
import io.delayqueue.ScheduledOccurrence;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

import org.springframework.core.GenericTypeResolver;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.messaging.support.MessageHeaderAccessor;
import org.springframework.validation.annotation.ValidationAnnotationUtils;

/**
 * Holds the payload type of a handler method, which was checked once.
 *
 * @param payloadType the type of the payload; {@code null} if no parameter needs it
 * @param validated whether to validate the payload
 */
record HandlerSignature(@Nullable Type payloadType, boolean validated) {

    /**
     * Checks a method.
     * @param targetClass the class of the bean behind its proxies, which resolves type
     * variables of its superclasses
     * @throws IllegalArgumentException if the method cannot be a handler
     */
    static HandlerSignature of(Method method, Class<?> targetClass) {
        Type payload = null;
        Type message = null;
        boolean validated = false;
        for (int i = 0; i < method.getParameterCount(); i++) {
            MethodParameter parameter = new MethodParameter(method, i).withContainingClass(targetClass);
            switch (kind(parameter)) {
                case PAYLOAD -> {
                    if (payload != null) {
                        throw new IllegalArgumentException(("a handler has at most one parameter for the payload, but "
                                + "parameters %s and %s are both; annotate what is a header with @Header")
                            .formatted(payload.getTypeName(), parameter.getGenericParameterType().getTypeName()));
                    }
                    payload = resolve(parameter.getGenericParameterType(), targetClass);
                    validated = isValidated(parameter);
                }
                case MESSAGE -> message = agreed(message, messageType(parameter), "two Message parameters");
                case OTHER -> {
                }
            }
        }
        if (payload != null && message != null && message != JsonNode.class) {
            agreed(payload, message, "the payload and the Message parameter");
        }
        return new HandlerSignature((payload != null) ? payload : message, validated);
    }

    static boolean isValidated(MethodParameter parameter) {
        return Stream.of(parameter.getParameterAnnotations())
            .anyMatch((annotation) -> ValidationAnnotationUtils.determineValidationHints(annotation) != null);
    }

    private static Kind kind(MethodParameter parameter) {
        Class<?> type = parameter.getParameterType();
        Payload annotation = AnnotatedElementUtils.getMergedAnnotation(parameter.getParameter(), Payload.class);
        if (annotation != null && !annotation.expression().isEmpty()) {
            throw new IllegalArgumentException(
                    "@Payload with an expression is not supported, but was '%s'".formatted(annotation.expression()));
        }
        if (parameter.hasParameterAnnotation(Headers.class) && !Map.class.isAssignableFrom(type)) {
            throw new IllegalArgumentException(
                    "a parameter with @Headers must be a Map, but was %s".formatted(type.getTypeName()));
        }
        if (isHeader(parameter) || type == MessageHeaders.class || type == Delivery.class
                || type == ScheduledOccurrence.class || isContinuation(parameter)) {
            return Kind.OTHER;
        }
        if (MessageHeaderAccessor.class.isAssignableFrom(type)) {
            throw new IllegalArgumentException(
                    "a parameter cannot be a %s; use MessageHeaders".formatted(type.getTypeName()));
        }
        if (Message.class.isAssignableFrom(type) && type != Message.class) {
            throw new IllegalArgumentException("a parameter that is a message must be declared as %s, but was %s"
                .formatted(Message.class.getTypeName(), type.getTypeName()));
        }
        return (type == Message.class) ? Kind.MESSAGE : Kind.PAYLOAD;
    }

    /** Returns whether it is the last parameter of a suspend function. */
    static boolean isContinuation(MethodParameter parameter) {
        return parameter.getParameterType().getName().equals("kotlin.coroutines.Continuation");
    }

    static boolean isHeader(MethodParameter parameter) {
        return parameter.hasParameterAnnotation(Header.class) || parameter.hasParameterAnnotation(Headers.class);
    }

    private static Type messageType(MethodParameter parameter) {
        ResolvableType generic = ResolvableType.forMethodParameter(parameter).getGeneric(0);
        return resolve((generic != ResolvableType.NONE) ? generic.getType() : Object.class,
                parameter.getContainingClass());
    }

    /** Resolves type variables and wildcards. */
    static Type resolve(Type declared, Class<?> targetClass) {
        Type type = GenericTypeResolver.resolveType(declared, targetClass);
        while (type instanceof WildcardType || type instanceof TypeVariable<?>) {
            type = (type instanceof WildcardType wildcard) ? wildcard.getUpperBounds()[0]
                    : ((TypeVariable<?>) type).getBounds()[0];
        }
        return readable(type);
    }

    /** Returns the type that Jackson reads: {@code Object} becomes a JSON tree. */
    static Type readable(Type type) {
        return (type == Object.class) ? JsonNode.class : type;
    }

    static Type agreed(@Nullable Type one, Type other, String what) {
        if (one != null && !ResolvableType.forType(one).toString().equals(ResolvableType.forType(other).toString())) {
            throw new IllegalArgumentException(
                    "%s ask for different types: %s and %s".formatted(what, one.getTypeName(), other.getTypeName()));
        }
        return other;
    }

    private enum Kind {

        PAYLOAD, MESSAGE, OTHER

    }

}

package io.delayqueue.listener.handler;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;

import io.delayqueue.Delivery;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.messaging.Message;

/**
 * Holds the lists that a method receives with a batch, which were checked once.
 *
 * @param payloadType the type of a payload; {@code null} if no list needs it
 * @param validated the parameter of the payloads if they are to be validated, each alone
 * @param lists the contents of the parameters
 */
record BatchSignature(@Nullable Type payloadType, @Nullable MethodParameter validated, List<Content> lists) {

    /**
     * Checks a method.
     * @param targetClass the class of the bean behind its proxies, which resolves type
     * variables of its superclasses
     * @throws IllegalArgumentException if the method cannot handle batches
     */
    static BatchSignature of(Method method, Class<?> targetClass) {
        Type payload = null;
        Type message = null;
        MethodParameter validated = null;
        List<Content> lists = new ArrayList<>();
        for (int i = 0; i < method.getParameterCount(); i++) {
            MethodParameter parameter = new MethodParameter(method, i).withContainingClass(targetClass);
            if (HandlerSignature.isContinuation(parameter)) {
                continue;
            }
            ResolvableType element = element(parameter);
            Content content = content(element);
            lists.add(content);
            if (content == Content.MESSAGES) {
                message = HandlerSignature.agreed(message,
                        HandlerSignature.resolve(type(element.getGeneric(0)), targetClass), "two lists of messages");
            }
            else if (content == Content.PAYLOADS) {
                Type declared = HandlerSignature.resolve(type(element), targetClass);
                if (payload != null) {
                    throw new IllegalArgumentException("a handler of batches has at most one list of payloads, but "
                            + "those of %s and %s are both".formatted(payload.getTypeName(), declared.getTypeName()));
                }
                payload = declared;
                validated = HandlerSignature.isValidated(parameter) ? parameter : null;
            }
        }
        if (lists.isEmpty()) {
            throw new IllegalArgumentException(
                    "a handler of batches needs a parameter that is a List<T>, List<Message<T>> or List<Delivery>");
        }
        if (payload != null && message != null && message != JsonNode.class) {
            HandlerSignature.agreed(payload, message, "the list of payloads and that of messages");
        }
        return new BatchSignature((payload != null) ? payload : message, validated, List.copyOf(lists));
    }

    private static ResolvableType element(MethodParameter parameter) {
        if (parameter.getParameterType() != List.class || HandlerSignature.isHeader(parameter)) {
            throw new IllegalArgumentException(("a handler of batches has parameters of List<T>, List<Message<T>> and "
                    + "List<Delivery> only, but parameter %d is %s; List<Message<T>> has the headers")
                .formatted(parameter.getParameterIndex() + 1, parameter.getGenericParameterType().getTypeName()));
        }
        ResolvableType element = ResolvableType.forMethodParameter(parameter).getGeneric(0);
        return element;
    }

    private static Content content(ResolvableType element) {
        Class<?> type = element.resolve(Object.class);
        return (type == Delivery.class) ? Content.DELIVERIES
                : (type == Message.class) ? Content.MESSAGES : Content.PAYLOADS;
    }

    private static Type type(ResolvableType type) {
        return (type != ResolvableType.NONE) ? type.getType() : Object.class;
    }

    /** Names the contents of a list, which are combined by their index. */
    enum Content {

        PAYLOADS, MESSAGES, DELIVERIES;

        /** Returns the element of a message. */
        Object element(DeliveryMessage message) {
            return switch (this) {
                case PAYLOADS -> message.getPayload();
                case MESSAGES -> message;
                case DELIVERIES -> message.delivery();
            };
        }

    }

}

package io.delayqueue.listener.handler;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Calls a function with the payloads and deliveries of the messages.
 *
 * @param function called with the messages
 * @param name the name of the function, for the log
 */
record FunctionInvocation(Function function, String name) implements HandlerInvocation {

    @SuppressWarnings("unchecked")
    static <T> FunctionInvocation of(PayloadHandler<T> handler) {
        return new FunctionInvocation((messages) -> {
            DeliveryMessage message = messages.get(0);
            handler.handle((T) message.getPayload(), message.delivery());
        }, handler.getClass().getName());
    }

    @SuppressWarnings("unchecked")
    static <T> FunctionInvocation ofBatch(BatchPayloadHandler<T> handler) {
        return new FunctionInvocation(
                (messages) -> handler.handle(messages.stream().map((message) -> (T) message.getPayload()).toList(),
                        messages.stream().map(DeliveryMessage::delivery).toList()),
                handler.getClass().getName());
    }

    @Override
    public Bound bind(List<DeliveryMessage> messages) {
        return (continuations) -> {
            this.function.call(messages);
            return null;
        };
    }

    @Override
    public @Nullable BeanMethod method() {
        return null;
    }

    /** Calls the function of the application. */
    @FunctionalInterface
    interface Function {

        void call(List<DeliveryMessage> messages) throws Exception;

    }

}

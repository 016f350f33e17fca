package io.delayqueue.listener.handler;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.core.MethodParameter;

/** Calls a method with the lists of a batch. */
final class BatchMethodInvocation implements HandlerInvocation {

    private final BeanMethod called;

    private final BatchSignature signature;

    private final PayloadValidator validator;

    BatchMethodInvocation(BeanMethod called, BatchSignature signature, PayloadValidator validator) {
        this.called = called;
        this.signature = signature;
        this.validator = validator;
    }

    @Override
    public void check(DeliveryMessage message) throws Exception {
        if (this.signature.validated() != null) {
            this.validator.validate(message, this.signature.validated());
        }
    }

    @Override
    public Bound bind(List<DeliveryMessage> messages) {
        // The last parameter of a suspend function is no list.
        @Nullable Object[] arguments = new Object[this.called.method().getParameterCount()];
        for (int i = 0; i < this.signature.lists().size(); i++) {
            arguments[i] = messages.stream().map(this.signature.lists().get(i)::element).toList();
        }
        return (continuations) -> this.called.call(arguments, continuations);
    }

    @Override
    public BeanMethod method() {
        return this.called;
    }

    @Override
    public String name() {
        return this.called.name();
    }

    /** Validates a payload as the annotations of a parameter ask for it. */
    @FunctionalInterface
    interface PayloadValidator {

        void validate(DeliveryMessage message, MethodParameter parameter) throws Exception;

    }

}

package io.delayqueue.listener.handler;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolverComposite;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;

/** Calls a method with one message; Spring resolves the arguments. */
final class MethodInvocation extends InvocableHandlerMethod implements HandlerInvocation {

    private final BeanMethod called;

    MethodInvocation(BeanMethod called, HandlerMethodArgumentResolverComposite resolvers) {
        super(called.bean(), called.method());
        this.called = called;
        setMessageMethodArgumentResolvers(resolvers);
    }

    @Override
    public Bound bind(List<DeliveryMessage> messages) throws Exception {
        return bind(messages.get(0));
    }

    @Override
    public Bound bind(DeliveryMessage message) throws Exception {
        @Nullable Object[] arguments = getMethodArgumentValues(message);
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

}

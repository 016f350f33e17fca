package io.delayqueue.listener.handler;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

import org.springframework.messaging.Message;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolverComposite;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;
import org.springframework.util.ReflectionUtils;

/**
 * Resolves the arguments by the method of the bean's class, which has the annotations,
 * and calls the method of the bean, which may be a proxy. In two steps, so that a failure
 * of the first does not count as a failure of the handler.
 */
final class HandlerInvocation extends InvocableHandlerMethod {

    private final Method invocable;

    HandlerInvocation(Object bean, Method method, Method invocable, HandlerMethodArgumentResolverComposite resolvers) {
        super(bean, method);
        this.invocable = invocable;
        ReflectionUtils.makeAccessible(invocable);
        setMessageMethodArgumentResolvers(resolvers);
    }

    @Nullable Object[] arguments(Message<?> message) throws Exception {
        return getMethodArgumentValues(message);
    }

    /** Calls the method and rethrows its exceptions without a wrapper. */
    @Nullable Object call(@Nullable Object[] arguments) throws Throwable {
        try {
            return this.invocable.invoke(getBean(), arguments);
        }
        catch (InvocationTargetException ex) {
            throw ex.getTargetException();
        }
    }

}

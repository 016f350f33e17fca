package io.delayqueue.listener.handler;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

import org.springframework.messaging.Message;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolverComposite;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the arguments by the method as its class declares it, where the annotations are,
 * and calls the one that the bean has, which may be that of a proxy. In two steps, so
 * that what fails in the first is not taken for a failure of the handler.
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

    /** Calls the method; what it throws is thrown as it is. */
    @Nullable Object call(@Nullable Object[] arguments) throws Throwable {
        try {
            return this.invocable.invoke(getBean(), arguments);
        }
        catch (InvocationTargetException ex) {
            throw ex.getTargetException();
        }
    }

}

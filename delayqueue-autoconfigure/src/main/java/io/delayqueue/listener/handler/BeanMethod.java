package io.delayqueue.listener.handler;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.ReflectionUtils;

/**
 * Calls a method of a bean, which may be a proxy.
 *
 * @param targetClass the class of the bean behind its proxies
 * @param method the method of the bean's class, which has the annotations
 * @param invocable the method that can be called on the bean
 * @param result converts the result of the method
 */
record BeanMethod(Object bean, Class<?> targetClass, Method method, Method invocable, HandlerResult result) {

    /**
     * Finds the method that can be called.
     * @throws IllegalArgumentException if the proxy does not have the method, or neither
     * its end nor its result shows when the handling ends
     */
    static BeanMethod of(Object bean, Method method) {
        Class<?> targetClass = AopProxyUtils.ultimateTargetClass(bean);
        HandlerResult result = HandlerResult.of(method);
        if (result.isImmediate() && AopUtils.isAopProxy(bean) && isAsync(method, targetClass)) {
            throw new IllegalArgumentException("an @Async method has to return a CompletableFuture, as a message is "
                    + "acknowledged when a call without a result returns; without @Async, a handler already has a "
                    + "thread of its own");
        }
        try {
            Method invocable = AopUtils.selectInvocableMethod(method, bean.getClass());
            ReflectionUtils.makeAccessible(invocable);
            return new BeanMethod(bean, targetClass, method, invocable, result);
        }
        catch (IllegalStateException ex) {
            throw new IllegalArgumentException(ex.getMessage(), ex);
        }
    }

    /** Returns whether a proxy of the bean may call the method on another thread. */
    boolean isAsync() {
        return isAsync(this.method, this.targetClass);
    }

    /** Checks the class of the bean and its own method, as Spring's proxy does. */
    private static boolean isAsync(Method method, Class<?> targetClass) {
        Method called = AopUtils.getMostSpecificMethod(method, targetClass);
        return AnnotatedElementUtils.hasAnnotation(targetClass, Async.class)
                || AnnotatedElementUtils.hasAnnotation(called, Async.class);
    }

    /**
     * Calls the method.
     * @param arguments one for each parameter
     * @return completes when the handling ends; {@code null} if it has ended
     */
    @Nullable CompletionStage<?> call(@Nullable Object[] arguments, Executor continuations) throws Throwable {
        if (this.result.isImmediate()) {
            invoke(arguments);
            return null;
        }
        return this.result.of((continuation) -> {
            if (continuation != null) {
                arguments[arguments.length - 1] = continuation;
            }
            return invoke(arguments);
        }, continuations);
    }

    private @Nullable Object invoke(@Nullable Object[] arguments) throws Throwable {
        try {
            return this.invocable.invoke(this.bean, arguments);
        }
        catch (InvocationTargetException ex) {
            throw ex.getTargetException();
        }
    }

    /** Returns the class, the name and the types of the parameters. */
    String name() {
        return InvalidListenerException.describe(this.method);
    }

}

package io.delayqueue.listener.handler;

import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

import kotlinx.coroutines.Job;
import org.jspecify.annotations.Nullable;

import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.util.ClassUtils;

/**
 * Converts the result of a handler method to the end of the handling: nothing, a future,
 * a reactive type of at most one value, a Kotlin job, or a suspend function.
 */
interface HandlerResult {

    /** The result of a method that handles the message until it returns. */
    HandlerResult NOTHING = (method, continuations) -> {
        method.invoke(null);
        return null;
    };

    /**
     * Calls the method.
     * @param continuations runs a coroutine whenever it resumes
     * @return completes when the handling ends; {@code null} if it has ended
     */
    @Nullable CompletionStage<?> of(Invocation method, Executor continuations) throws Throwable;

    /** Returns whether the handling has ended when the method has returned. */
    default boolean isImmediate() {
        return this == NOTHING;
    }

    /**
     * Returns the conversion for a method.
     * @throws IllegalArgumentException if the result of the method does not show when the
     * handling ends
     */
    static HandlerResult of(Method method) {
        Class<?> type = method.getReturnType();
        if (KotlinDetector.isSuspendingFunction(method)) {
            return ofSuspendFunction(method);
        }
        if (type == void.class) {
            return NOTHING;
        }
        if (CompletionStage.class.isAssignableFrom(type)) {
            return (called, continuations) -> (CompletionStage<?>) called.invoke(null);
        }
        if (isPresent("kotlinx.coroutines.Job") && Coroutines.isJob(type)) {
            return Coroutines.JOB;
        }
        ReactiveAdapter adapter = isPresent("org.reactivestreams.Publisher")
                ? ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) : null;
        if (adapter == null || adapter.isMultiValue()) {
            throw new IllegalArgumentException(("a handler returns void, a CompletionStage, or a type of one value "
                    + "such as Mono, but this one returns %s%s")
                .formatted(type.getTypeName(), (adapter != null) ? ", which may have several" : ""));
        }
        return (called, continuations) -> {
            Object returned = called.invoke(null);
            return (returned != null) ? PublisherStage.subscribe(adapter.toPublisher(returned)) : null;
        };
    }

    private static HandlerResult ofSuspendFunction(Method method) {
        Type[] parameters = method.getGenericParameterTypes();
        Type result = ((ParameterizedType) parameters[parameters.length - 1]).getActualTypeArguments()[0];
        Type type = (result instanceof WildcardType wildcard) ? wildcard.getLowerBounds()[0] : result;
        if (!type.getTypeName().equals("kotlin.Unit")) {
            throw new IllegalArgumentException(
                    "a suspend function that is a handler returns nothing, but this one returns %s"
                        .formatted(type.getTypeName()));
        }
        if (!isPresent("kotlinx.coroutines.Job")) {
            throw new IllegalArgumentException(
                    "a suspend function needs org.jetbrains.kotlinx:kotlinx-coroutines-core");
        }
        return Coroutines.SUSPEND;
    }

    private static boolean isPresent(String type) {
        return ClassUtils.isPresent(type, HandlerResult.class.getClassLoader());
    }

    /** Calls the method. */
    @FunctionalInterface
    interface Invocation {

        /**
         * Calls the method.
         * @param continuation the last argument of a suspend function
         */
        @Nullable Object invoke(@Nullable Object continuation) throws Throwable;

    }

    /** Holds what needs Kotlin's coroutines. */
    final class Coroutines {

        private static final HandlerResult SUSPEND = (method, continuations) -> CoroutineStage.start(method::invoke,
                continuations);

        private static final HandlerResult JOB = (method, continuations) -> {
            Job job = (Job) method.invoke(null);
            return (job != null) ? CoroutineStage.of(job) : null;
        };

        private Coroutines() {
        }

        static boolean isJob(Class<?> type) {
            return Job.class.isAssignableFrom(type);
        }

    }

}

package io.delayqueue.listener.poll;

import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskDecorator;

/**
 * How the application runs handlers.
 *
 * @param executor runs each message as a task; {@code null} for threads of the worker's
 * own. Must neither run tasks in the calling thread nor make it wait, as that may be the
 * thread of the store's connection
 * @param decorator wraps the handling of each message; {@code null} for none
 */
public record HandlerExecution(@Nullable Executor executor, @Nullable TaskDecorator decorator) {

    /** Threads of the worker's own, undecorated. */
    public static final HandlerExecution DEFAULT = new HandlerExecution(null, null);

}

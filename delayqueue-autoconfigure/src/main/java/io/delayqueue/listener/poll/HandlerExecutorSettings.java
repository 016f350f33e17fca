package io.delayqueue.listener.poll;

import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskDecorator;

/**
 * Holds the application's settings for running handlers.
 *
 * @param executor runs each message as a task; {@code null} for the library's own
 * threads. Must neither run tasks in the calling thread nor block it, as that may be the
 * thread of the store's connection
 * @param decorator wraps the handling of each message; {@code null} for none
 */
public record HandlerExecutorSettings(@Nullable Executor executor, @Nullable TaskDecorator decorator) {

    /** Runs handlers on the library's own threads, undecorated. */
    public static final HandlerExecutorSettings DEFAULT = new HandlerExecutorSettings(null, null);

}

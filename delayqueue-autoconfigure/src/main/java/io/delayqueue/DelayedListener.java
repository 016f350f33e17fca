package io.delayqueue;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.core.annotation.AliasFor;
import org.springframework.messaging.handler.annotation.MessageMapping;

/**
 * Marks a method of a bean as the handler of the messages of one queue or several.
 * <p>
 * The method may declare: the payload (one parameter without annotation, or with
 * {@code @Payload}; its declared type decides what the JSON is read as;
 * {@code @Validated} or {@code @Valid} has it validated), {@code @Header} values,
 * {@code @Headers Map}, {@code Message<T>}, and {@link Delivery}. It returns
 * {@code void}, or a {@code CompletionStage} whose completion ends the handling.
 * <p>
 * When it returns, the message is acknowledged. When it throws, the message is tried
 * again after a backoff, until its attempts are used up and it becomes a dead letter.
 * What fails before the method is called (a payload that cannot be read or is not valid)
 * is made a dead letter at once. Messages are handled at least once: handlers should be
 * idempotent.
 * <p>
 * Every attribute takes <code>${...}</code> and <code>#{...}</code>, except the class
 * array. An attribute that is empty comes from {@code delayqueue.queues.<name>.*}, and
 * else from {@code delayqueue.listener.*}. Can be used as a meta-annotation, and more
 * than once on a method.
 */
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@MessageMapping
@Repeatable(DelayedListeners.class)
public @interface DelayedListener {

    /** The queues, as {@link #queues()}. */
    @AliasFor("queues")
    String[] value() default {};

    /**
     * The queues to listen to, at least one. An element may be an expression that yields
     * several, as an array, a collection or a comma-separated text.
     */
    @AliasFor("value")
    String[] queues() default {};

    /**
     * Name of the {@link io.delayqueue.autoconfigure.DelayQueueSystem} bean whose queues
     * these are, as {@code containerFactory} is for other listeners; the application's
     * own queues if empty.
     */
    String system() default "";

    /**
     * Names this listener in the registry and in logs; unique in the application. Made of
     * the bean's and the method's name if empty.
     */
    String id() default "";

    /** Most messages of each queue that this process handles at the same time. */
    String concurrency() default "";

    /**
     * How long a claimed message is kept from others before it is handed out again.
     * Renewed while the handler runs, so it bounds the time to recover from a crash, not
     * the time a handler may take. At least one second.
     */
    String lease() default "";

    /**
     * Longest time the handler may take. After it, the lease is not renewed any more, the
     * handler's thread is interrupted, and the attempt has failed. {@code "0"} for no
     * limit.
     */
    String timeout() default "";

    /** Most times the handler is tried with a message, counting those that failed. */
    String maxAttempts() default "";

    /** Waits between the attempts. */
    Backoff backoff() default @Backoff;

    /** Exceptions after which a message is made a dead letter at once, subclasses too. */
    Class<? extends Throwable>[] noRetryFor() default {};

    /** Names of further such classes; a name that cannot be loaded fails the start. */
    String[] noRetryForClassName() default {};

    /** Whether it starts with the application; else by the registry. */
    String autoStartup() default "";

}

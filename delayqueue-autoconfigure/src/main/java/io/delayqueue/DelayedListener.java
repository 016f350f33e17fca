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
 * Marks a bean method as the handler of the messages of one or more queues.
 * <p>
 * The method may declare: the payload (one parameter without annotation, or with
 * {@code @Payload}; the JSON is read as its declared type, and validated with
 * {@code @Validated} or {@code @Valid}), {@code @Header} values, {@code @Headers Map},
 * {@code Message<T>}, and {@link Delivery}. It returns {@code void}, or a
 * {@code CompletionStage} whose completion ends the handling.
 * <p>
 * When it returns, the message is acknowledged. When it throws, the message is retried
 * after a backoff, until its attempts are used up and it is dead-lettered. A message
 * whose payload cannot be read or is not valid is dead-lettered immediately, without
 * calling the method. A {@link DelayedListenerErrorHandler} may decide otherwise.
 * Messages are handled at least once: handlers should be idempotent.
 * <p>
 * Every attribute resolves <code>${...}</code> and <code>#{...}</code>, except the class
 * array. An empty attribute is taken from {@code delayqueue.queues.<name>.*}, or else
 * from {@code delayqueue.listener.*}. A method that returns {@code void} has handled its
 * message when it returns; one that returns a
 * {@link java.util.concurrent.CompletionStage} or a reactive type of one value, or is a
 * suspend function of Kotlin, when that completes. Can be used as a meta-annotation, and
 * more than once on a method. <pre class="code">
 * &#64;DelayedListener("order-timeout")
 * void close(OrderTimeout timeout) {
 *     orders.closeIfUnpaid(timeout.orderId());
 * }
 * </pre>
 */
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@MessageMapping
@Repeatable(DelayedListeners.class)
public @interface DelayedListener {

    /** Alias for {@link #queues()}. */
    @AliasFor("queues")
    String[] value() default {};

    /**
     * The queues to listen to, at least one. An element may be an expression that yields
     * several, as an array, a collection or a comma-separated text.
     */
    @AliasFor("value")
    String[] queues() default {};

    /**
     * Name of the {@link io.delayqueue.autoconfigure.DelayQueueSystem} bean that owns the
     * queues, comparable to {@code containerFactory} of other listener annotations. If
     * empty, the queues belong to the application's default system.
     */
    String system() default "";

    /**
     * Id of this listener in the registry and in logs, unique in the application. If
     * empty, it is derived from the names of the bean and the method.
     */
    String id() default "";

    /**
     * Maximum number of messages of each queue, or of batches, that this process handles
     * concurrently.
     */
    String concurrency() default "";

    /**
     * Whether a call of the method receives the messages of one claim: those that are due
     * when a handler is free, at least one and at most {@link #batchSize()}. None waits
     * for others. The method has parameters of {@code List<T>}, {@code List<Message<T>>}
     * and {@code List<Delivery>}, whose elements belong together by their index.
     * <p>
     * Each message keeps a lease and attempts of its own. When the method returns, all
     * are acknowledged, except those for which it has called a method of their
     * {@link Delivery}, such as {@link Delivery#fail(Throwable)}. When it throws, all
     * without such a decision have failed. A message that cannot be read is not part of
     * the batch.
     */
    boolean batch() default false;

    /** Maximum number of messages of a batch, 1 to 100; 100 if empty. */
    String batchSize() default "";

    /**
     * How long a claimed message is reserved for this process before it can be
     * redelivered. The lease is renewed while the handler runs, so it bounds the time to
     * recover from a crash, not the duration of a handler. At least one second.
     */
    String lease() default "";

    /**
     * Longest time the handler may take. After that, the lease is no longer renewed, the
     * handler's thread is interrupted, and the attempt counts as failed. {@code "0"} for
     * no limit.
     */
    String timeout() default "";

    /** Maximum number of attempts for a message, counting those that failed. */
    String maxAttempts() default "";

    /** Wait times between the attempts. */
    Backoff backoff() default @Backoff;

    /** Exceptions, including their subclasses, that dead-letter a message immediately. */
    Class<? extends Throwable>[] noRetryFor() default {};

    /**
     * Names of further such exception classes. The application fails to start if one
     * cannot be loaded.
     */
    String[] noRetryForClassName() default {};

    /**
     * Name of the {@link DelayedListenerErrorHandler} bean that decides how a message is
     * settled after a failed attempt, or an expression that yields the name or the
     * handler. If empty, the application's error handler decides, if it has one.
     */
    String errorHandler() default "";

    /** Whether the listener starts with the application, rather than by the registry. */
    String autoStartup() default "";

    /**
     * Whether the handler runs in a transaction of the journal's database that also
     * records that the message was handled. A message whose transaction has committed is
     * acknowledged without another call, so the handler's writes to that database take
     * effect once. Needs a queue with {@code delayqueue.journal.mode=ledger}, and a
     * method that returns when the handling has ended.
     */
    boolean transactional() default false;

}

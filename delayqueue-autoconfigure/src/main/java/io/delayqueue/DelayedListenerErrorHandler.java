package io.delayqueue;

/**
 * Decides how a message is settled after a failed attempt: it is retried, dead-lettered,
 * or released without counting the attempt.
 * <p>
 * A bean of this type applies to all listeners of the application, or the primary one if
 * there are several; {@link DelayedListener#errorHandler()} names another one for a
 * single listener. It is called when the handler has thrown an exception, exceeded its
 * timeout or returned a future that failed, and for a message that cannot be read. It is
 * not called for a message that is released because the application stops, that has
 * expired, or whose lease has lapsed too often.
 * <p>
 * If it throws, that is logged, and {@link ErrorDecision#standard()} applies.
 * <p>
 * <strong>Threads.</strong> Called on handler threads, concurrently. It holds the permit
 * and the lease of its message meanwhile, and no timeout ends it, so it must return soon.
 * <pre class="code">
 * &#64;Bean
 * DelayedListenerErrorHandler errorHandler() {
 *     return (delivery, error) -&gt; (error instanceof TimeoutException)
 *             ? ErrorDecision.release(Duration.ofMinutes(1)) : ErrorDecision.standard();
 * }
 * </pre>
 */
@FunctionalInterface
public interface DelayedListenerErrorHandler {

    /**
     * Decides how a message is settled.
     * @param delivery the message and its attempt. Its {@code retryAfter} and
     * {@code deadLetter} have no effect here; the returned decision has
     * @param error the exception of the handler, without wrappers; a
     * {@link HandlerTimeoutException} after a timeout; the reason why the message cannot
     * be read, such as a {@link PayloadConversionException}
     */
    ErrorDecision handleError(Delivery delivery, Throwable error);

}

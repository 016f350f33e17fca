package io.delayqueue;

import java.lang.annotation.Documented;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Configures how long a listener waits before it retries a failed message:
 * {@code initial * multiplier^(failures - 1)}, at most {@code max}, then lengthened or
 * shortened by a random fraction of at most {@code jitter}. Empty attributes are taken
 * from the configuration of the queue or of the application. Each attribute resolves
 * <code>${...}</code> and <code>#{...}</code>. <pre class="code">
 * &#64;DelayedListener(value = "receipt", backoff = &#64;Backoff(initial = "5s", multiplier = "3", max = "1h"))
 * void send(Receipt receipt) {
 *     mail.send(receipt);
 * }
 * </pre>
 */
@Target({})
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Backoff {

    /** Wait after the first failure, such as {@code "1s"} or {@code "PT1S"}. */
    String initial() default "";

    /** Factor by which the wait grows after each further failure, at least 1. */
    String multiplier() default "";

    /** Longest wait. */
    String max() default "";

    /** Largest random fraction of the wait, from 0 (none) to 1. */
    String jitter() default "";

}

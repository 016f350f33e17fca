package io.delayqueue;

import java.lang.annotation.Documented;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * How long a listener waits before it tries a failed message again:
 * {@code initial * multiplier^(failures - 1)}, at most {@code max}, then made longer or
 * shorter by a random share of at most {@code jitter}. Attributes that are empty come
 * from the queue's or the application's configuration. Each takes <code>${...}</code> and
 * <code>#{...}</code>.
 */
@Target({})
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Backoff {

    /** Wait after the first failure, such as {@code "1s"} or {@code "PT1S"}. */
    String initial() default "";

    /** What the wait is multiplied by after each further failure, at least 1. */
    String multiplier() default "";

    /** Longest wait. */
    String max() default "";

    /** Greatest random share, from 0 (none) to 1. */
    String jitter() default "";

}

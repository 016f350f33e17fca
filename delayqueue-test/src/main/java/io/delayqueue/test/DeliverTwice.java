package io.delayqueue.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Delivers each message of a test twice, so that a handler that is not idempotent fails
 * the test.
 *
 * <pre class="code">
 * &#64;Test
 * &#64;DeliverTwice
 * void refundsOnce() {
 *     refunds.request(42);
 *     tester.drain();
 *     assertThat(account.balance(42)).isEqualTo(100);
 * }
 * </pre>
 *
 * The outcome of the first delivery of each attempt is discarded, as if its
 * acknowledgement had been lost. The message is delivered again at the same virtual time,
 * under a new lease and without counting a lapse, and the second outcome counts.
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
public @interface DeliverTwice {

}

package io.delayqueue.test.autoconfigure;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.parallel.ResourceLock;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Puts the queues of an application into virtual time, beside {@code @SpringBootTest},
 * and configures a {@link io.delayqueue.test.DelayQueueTester}.
 *
 * <pre class="code">
 * &#64;SpringBootTest
 * &#64;AutoConfigureDelayQueueTester
 * class OrderApplicationTests {
 * </pre>
 *
 * Each context has a namespace of its own, which is emptied before each test method.
 * Tests that share a context run one after another, also where tests run in parallel.
 *
 * @see DelayQueueTest
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
@ResourceLock(providers = ContextLocksProvider.class)
public @interface AutoConfigureDelayQueueTester {

    /** The store of the messages. */
    TestStoreType store() default TestStoreType.MEMORY;

    /**
     * The virtual time at which each test begins, such as {@code 2026-03-29T00:59:00Z};
     * by default the real time.
     */
    String startAt() default "";

    /**
     * Whether {@code Clock} beans follow virtual time, each in its zone. If the
     * application has none, one in UTC is added.
     */
    boolean joinClock() default false;

}

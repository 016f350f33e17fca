package io.delayqueue.test.autoconfigure;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.autoconfigure.OverrideAutoConfiguration;
import org.springframework.boot.test.context.filter.annotation.TypeExcludeFilters;
import org.springframework.context.annotation.ComponentScan.Filter;
import org.springframework.core.annotation.AliasFor;
import org.springframework.test.context.BootstrapWith;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/**
 * Tests listeners in virtual time, with the queues, JSON and validation of the
 * application, and without its web layer, its database and its other beans. Supply what
 * the listeners need by {@code @MockitoBean} or {@code @Import}.
 *
 * <pre class="code">
 * &#64;DelayQueueTest(OrderListener.class)
 * class OrderListenerTests {
 *
 *     &#64;MockitoBean
 *     OrderService orders;
 *
 *     &#64;Test
 *     void unpaidOrderIsCancelled(@Autowired DelayQueueOperations queue, @Autowired DelayQueueTester tester) {
 *         queue.send("order-timeout", "order-42", new OrderTimeout(42), Duration.ofMinutes(30));
 *         tester.advance(Duration.ofMinutes(30));
 *         verify(this.orders).cancel(42);
 *     }
 *
 * }
 * </pre>
 *
 * Each context has a namespace of its own, which is emptied before each test method.
 *
 * @see AutoConfigureDelayQueueTester
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@BootstrapWith(DelayQueueTestContextBootstrapper.class)
@ExtendWith(SpringExtension.class)
@OverrideAutoConfiguration(enabled = false)
@TypeExcludeFilters(DelayQueueTypeExcludeFilter.class)
@AutoConfigureDelayQueue
@AutoConfigureDelayQueueTester
@ImportAutoConfiguration
public @interface DelayQueueTest {

    /**
     * The components to test, an alias of {@link #listeners()}.
     */
    @AliasFor("listeners")
    Class<?>[] value() default {};

    /**
     * The components to test, usually with listener methods. By default all components of
     * the application with such methods.
     */
    @AliasFor("value")
    Class<?>[] listeners() default {};

    /** The store of the messages. */
    @AliasFor(annotation = AutoConfigureDelayQueueTester.class)
    TestStoreType store() default TestStoreType.MEMORY;

    /** The virtual time at which each test begins; by default the real time. */
    @AliasFor(annotation = AutoConfigureDelayQueueTester.class)
    String startAt() default "";

    /** Whether {@code Clock} beans follow virtual time. */
    @AliasFor(annotation = AutoConfigureDelayQueueTester.class)
    boolean joinClock() default false;

    /** Properties of the environment, in the form {@code key=value}. */
    String[] properties() default {};

    /**
     * Whether {@link #listeners()} are components of the context. If not, only those of
     * {@link #includeFilters()} are.
     */
    boolean useDefaultFilters() default true;

    /** Filters that add components to the context. */
    Filter[] includeFilters() default {};

    /** Filters that remove components from the context. */
    Filter[] excludeFilters() default {};

    /** Auto-configurations to exclude. */
    @AliasFor(annotation = ImportAutoConfiguration.class, attribute = "exclude")
    Class<?>[] excludeAutoConfiguration() default {};

}

package io.delayqueue.journal;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Selects the {@code PlatformTransactionManager} of transactional listeners, in an
 * application with several. Its data source must be that of the journal. Without it, the
 * only or primary one is used.
 * <p>
 * Transactions in the database of the journal: <pre class="code">
 * &#64;Bean
 * &#64;DelayQueueTransactionManager
 * PlatformTransactionManager ordersTransactions(&#64;DelayQueueDataSource DataSource orders) {
 *     return new JdbcTransactionManager(orders);
 * }
 * </pre>
 *
 * @see DelayQueueDataSource
 */
@Target({ ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Qualifier
public @interface DelayQueueTransactionManager {

}

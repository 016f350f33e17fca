package io.delayqueue.journal;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Selects the {@code DataSource} whose database holds the journal, in an application with
 * several. Without it, the only or primary one is used. Sends are recorded in the
 * transactions of this data source; a send in a transaction of another one is rejected.
 * <p>
 * The journal is in the database of the orders: <pre class="code">
 * &#64;Bean
 * &#64;DelayQueueDataSource
 * DataSource orders() {
 *     return DataSourceBuilder.create().url("jdbc:postgresql://db/orders").build();
 * }
 * </pre>
 *
 * @see DelayQueueTransactionManager
 */
@Target({ ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Qualifier
public @interface DelayQueueDataSource {

}

package io.delayqueue.sample;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.transaction.support.TransactionOperations;

/** Calls without a transaction where there is no database. */
@Configuration(proxyBeanMethods = false)
@Profile("!ledger")
class NoTransactions {

    @Bean
    TransactionOperations transactionOperations() {
        return TransactionOperations.withoutTransaction();
    }

}

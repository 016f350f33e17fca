package io.delayqueue.sample;

import io.delayqueue.DelayQueueOperations;

import org.springframework.core.env.Environment;
import org.springframework.core.env.Profiles;
import org.springframework.stereotype.Component;

/** Collects what the page shows. */
@Component
class PageStateReader {

    private static final int LATEST = 10;

    private final DelayQueueOperations delayQueue;

    private final Orders orders;

    private final MailServer mailServer;

    private final boolean ledger;

    PageStateReader(DelayQueueOperations delayQueue, Orders orders, MailServer mailServer, Environment environment) {
        this.delayQueue = delayQueue;
        this.orders = orders;
        this.mailServer = mailServer;
        this.ledger = environment.acceptsProfiles(Profiles.of("ledger"));
    }

    PageState read() {
        return new PageState(this.orders.latest(LATEST), Queues.ALL.stream().map(this.delayQueue::statistics).toList(),
                this.delayQueue.deadLetters(Queues.RECEIPT)
                    .list(null, LATEST)
                    .deadLetters()
                    .stream()
                    .map(DeadLetterView::of)
                    .toList(),
                this.mailServer.isRepaired(), this.ledger);
    }

}

package io.delayqueue.sample;

import io.delayqueue.DelayQueueOperations;

import org.springframework.stereotype.Component;

/** Collects what the page shows. */
@Component
class PageStateReader {

    private static final int LATEST = 10;

    private final DelayQueueOperations delayQueue;

    private final Orders orders;

    private final MailServer mailServer;

    PageStateReader(DelayQueueOperations delayQueue, Orders orders, MailServer mailServer) {
        this.delayQueue = delayQueue;
        this.orders = orders;
        this.mailServer = mailServer;
    }

    PageState read() {
        return new PageState(this.orders.latest(LATEST), Queues.ALL.stream().map(this.delayQueue::statistics).toList(),
                this.delayQueue.deadLetters(Queues.RECEIPT)
                    .list(null, LATEST)
                    .deadLetters()
                    .stream()
                    .map(DeadLetterView::of)
                    .toList(),
                this.mailServer.isRepaired());
    }

}

package io.delayqueue.sample;

import java.util.List;

import io.delayqueue.DeadLetterOperations;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.RedriveResult;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Lists, redrives and purges the dead letters of receipts. */
@RestController
@RequestMapping("/dead-letters")
class DeadLetterController {

    private static final int LATEST = 50;

    private final DeadLetterOperations deadLetters;

    private final EventLog events;

    DeadLetterController(DelayQueueOperations delayQueue, EventLog events) {
        this.deadLetters = delayQueue.deadLetters(Queues.RECEIPT);
        this.events = events;
    }

    @GetMapping
    List<DeadLetterView> latest() {
        return this.deadLetters.list(null, LATEST).deadLetters().stream().map(DeadLetterView::of).toList();
    }

    @PostMapping("/{id}/redrive")
    Redriven redrive(@PathVariable String id) {
        RedriveResult result = this.deadLetters.redrive(id);
        return switch (result) {
            case REDRIVEN -> {
                this.events.add(ShopEvent.Kind.REDRIVEN, null, "dead letter '%s'".formatted(id));
                yield new Redriven(id, result);
            }
            case NOT_FOUND -> throw new NotFoundException("There is no dead letter '%s'".formatted(id));
            case ID_IN_USE -> throw new ConflictException("A receipt of that order waits already");
            case EMPTY -> throw new ConflictException("Dead letter '%s' has no message".formatted(id));
        };
    }

    @DeleteMapping("/{id}")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void purge(@PathVariable String id) {
        if (!this.deadLetters.purge(id)) {
            throw new NotFoundException("There is no dead letter '%s'".formatted(id));
        }
        this.events.add(ShopEvent.Kind.PURGED, null, "dead letter '%s'".formatted(id));
    }

    /** The answer to a redrive. */
    record Redriven(String id, RedriveResult result) {
    }

}

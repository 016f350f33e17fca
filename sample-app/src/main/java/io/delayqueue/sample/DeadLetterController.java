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

/** The receipts that nobody tries any more: look, try again, or throw away. */
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
        return this.deadLetters.list(null, LATEST).letters().stream().map(DeadLetterView::of).toList();
    }

    @PostMapping("/{letterId}/redrive")
    Redriven redrive(@PathVariable String letterId) {
        RedriveResult result = this.deadLetters.redrive(letterId);
        return switch (result) {
            case REDRIVEN -> {
                this.events.add(ShopEvent.Kind.REDRIVEN, null, "dead letter '%s'".formatted(letterId));
                yield new Redriven(letterId, result);
            }
            case NOT_FOUND -> throw new NotFoundException("There is no dead letter '%s'".formatted(letterId));
            case ID_IN_USE -> throw new ConflictException("A receipt of that order waits already");
            case EMPTY -> throw new ConflictException("Dead letter '%s' has no message".formatted(letterId));
        };
    }

    @DeleteMapping("/{letterId}")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void purge(@PathVariable String letterId) {
        if (!this.deadLetters.purge(letterId)) {
            throw new NotFoundException("There is no dead letter '%s'".formatted(letterId));
        }
        this.events.add(ShopEvent.Kind.PURGED, null, "dead letter '%s'".formatted(letterId));
    }

    /** The answer to a redrive. */
    record Redriven(String letterId, RedriveResult result) {
    }

}

package io.delayqueue.store;

import java.time.Instant;
import java.util.Arrays;
import java.util.List;

import io.delayqueue.DeadLetterEvent;
import org.jspecify.annotations.Nullable;

/** A claim without the store's time, in a form that can be compared. */
record Claimed(List<Taken> messages, @Nullable Instant nextAt, int expired, List<DeadLetterEvent> buried) {

    static Claimed of(ClaimResult claim) {
        return new Claimed(claim.messages().stream().map(Taken::of).toList(), claim.nextAt(), claim.expired(),
                claim.buried());
    }

    static Claimed nothing(@Nullable Instant nextAt) {
        return new Claimed(List.of(), nextAt, 0, List.of());
    }

    static Claimed of(Taken... messages) {
        Instant first = Arrays.stream(messages)
            .map((taken) -> Instant.EPOCH.plusNanos(Long.parseLong(taken.lease().token()) * 1_000))
            .min(Instant::compareTo)
            .orElseThrow();
        return new Claimed(List.of(messages), first, 0, List.of());
    }

    List<Lease> leases() {
        return this.messages.stream().map(Taken::lease).toList();
    }

    List<String> ids() {
        return this.messages.stream().map((taken) -> taken.lease().id()).toList();
    }

}

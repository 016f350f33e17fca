package io.delayqueue.faults;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.faults.Verdict.Violation;

/**
 * Looks for messages of a group that were claimed before one that stood ahead of them.
 * Only those count that nobody moved, and whose first claim is known to be their first.
 * Threads: confined to one.
 */
final class GroupOrder {

    private final List<Violation> violations = new ArrayList<>();

    GroupOrder(Map<String, Sent> sent, List<Held> held) {
        Map<String, List<Held>> byNumber = Held.by(Held::number, held);
        Map<String, List<Sent>> byId = Sent.byId(sent);
        Held.by(Held::groupInQueue, held).values().forEach((leases) -> {
            Map<String, Member> members = new LinkedHashMap<>();
            for (Held lease : leases) {
                Sent message = sent.get(lease.number());
                if (message != null && !isMoved(message, byId)) {
                    members.computeIfAbsent(lease.number(),
                            (number) -> new Member(lease, message, overFrom(byNumber.get(number))));
                }
            }
            lookAt(List.copyOf(members.values()));
        });
    }

    /** Members of a group, by their first claims. */
    private void lookAt(List<Member> members) {
        Deque<Member> coming = new ArrayDeque<>(
                members.stream().sorted(Comparator.comparingLong((member) -> member.message().endAt())).toList());
        List<Member> there = new ArrayList<>();
        for (Member member : members) {
            while (!coming.isEmpty() && coming.peek().message().endAt() < member.lease().now()) {
                there.add(coming.poll());
            }
            there.removeIf((ahead) -> ahead.overFrom() < member.lease().claimed().at());
            if (isFirst(member.lease())) {
                there.stream()
                    .filter((ahead) -> ahead.message().due() < member.message().due())
                    .forEach((ahead) -> this.violations
                        .add(new Violation("groups", "out of turn: %s, ahead of which stood %s"
                            .formatted(member.lease().toLine(), ahead.message()))));
            }
        }
    }

    /** From when on it may have been over. */
    private static long overFrom(List<Held> leases) {
        return leases.stream()
            .flatMap((lease) -> lease.settlements().stream())
            .filter((end) -> end.endsMessage() && end.possible())
            .mapToLong((end) -> end.begin().at())
            .min()
            .orElse(Long.MAX_VALUE);
    }

    private static boolean isMoved(Sent message, Map<String, List<Sent>> byId) {
        return !message.isScheduled() || message.isRescheduled() || message.isExcused() || message.isRedriven()
                || message.expires() || byId.get(message.idInQueue()).size() > 1;
    }

    private static boolean isFirst(Held lease) {
        return lease.claimed().is("suspect", "false") && lease.claimed().is("failures", "0");
    }

    List<Violation> violations() {
        return this.violations;
    }

    private record Member(Held lease, Sent message, long overFrom) {
    }

}

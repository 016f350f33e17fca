package io.delayqueue.test;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.MessageState;
import io.delayqueue.MessageSummary;
import io.delayqueue.StoredMessage;
import io.delayqueue.admin.MessageSelection;
import io.delayqueue.store.Texts;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.assertj.core.api.AssertProvider;
import org.jspecify.annotations.Nullable;

/**
 * Represents a queue of the tested application. Each assertion reads what the queue holds
 * at that moment. Created by {@link DelayQueueTester#queue(String)}.
 *
 * <pre class="code">
 * assertThat(tester.queue("order-timeout")).hasScheduled("order-42")
 *     .dueIn(Duration.ofMinutes(30))
 *     .withPayload(new OrderTimeout(42));
 * </pre>
 */
public final class TestQueue implements AssertProvider<QueueAssert> {

    private static final int PAGE = 50;

    private final String name;

    private final VirtualTime time;

    private final DelayQueueOperations operations;

    private final VirtualTimeRuntime.Reader reader;

    TestQueue(String name, VirtualTime time, DelayQueueOperations operations, VirtualTimeRuntime.Reader reader) {
        this.name = name;
        this.time = time;
        this.operations = operations;
        this.reader = reader;
    }

    /** Returns the name of the queue. */
    public String name() {
        return this.name;
    }

    @Override
    public QueueAssert assertThat() {
        return new QueueAssert(this);
    }

    Instant now() {
        return this.time.now();
    }

    Optional<StoredMessage> message(String id) {
        return this.operations.find(this.name, id);
    }

    /** Returns the latest dead letter of a message. */
    Optional<DeadLetter> deadLetter(String messageId) {
        String cursor = null;
        do {
            DeadLetterPage page = this.operations.deadLetters(this.name).list(cursor, PAGE);
            Optional<DeadLetter> found = page.deadLetters()
                .stream()
                .filter((letter) -> letter.messageId().equals(messageId))
                .findFirst();
            if (found.isPresent()) {
                return found;
            }
            cursor = page.nextCursor();
        }
        while (cursor != null);
        return Optional.empty();
    }

    boolean isEmpty() {
        return messages().isEmpty() && deadLetters().isEmpty();
    }

    /** Returns the messages on the first page of each listing. */
    private List<MessageSummary> messages() {
        return Stream.of(MessageSelection.SCHEDULED, MessageSelection.WAITING_IN_GROUP, MessageSelection.LEASED)
            .flatMap((selection) -> this.reader.queues().messages(this.name, selection, null, PAGE).messages().stream())
            .toList();
    }

    private List<DeadLetter> deadLetters() {
        return this.operations.deadLetters(this.name).list(null, PAGE).deadLetters();
    }

    /** Returns whether a payload is stored as the same JSON as another. */
    boolean isPayload(String stored, Object expected) {
        return json(stored).equals(json(payload(expected)));
    }

    /** Returns an expected payload in its stored form. */
    String payload(Object expected) {
        EnvelopeCodec codec = this.reader.codec();
        return EnvelopeCodec.text(codec.read(codec.write(expected, Map.of())));
    }

    private Object json(String payload) {
        return this.reader.codec().readPayload(payload.getBytes(StandardCharsets.UTF_8), Object.class);
    }

    /**
     * Returns a table of the messages and dead letters, as far as they fit on a page.
     */
    @Override
    public String toString() {
        List<MessageSummary> messages = messages();
        List<DeadLetter> deadLetters = deadLetters();
        String title = "queue '%s' at %s".formatted(this.name, now());
        if (messages.isEmpty() && deadLetters.isEmpty()) {
            return title + ": no messages, no dead letters";
        }
        TextTable table = new TextTable(List.of("state", "id", "due at", "due in", "failures", "payload", "cause"));
        messages.forEach((message) -> table.add(row(message)));
        deadLetters.forEach((letter) -> table.add(row(letter)));
        return title + ":\n" + table;
    }

    private List<String> row(MessageSummary message) {
        Instant due = message.dueAt();
        String state = (message.state() == MessageState.LEASED) ? "in flight" : "scheduled";
        String payload = message(message.id()).map(StoredMessage::payload).orElse("");
        return List.of(state, message.id(), text(due), (due != null) ? until(due) : "",
                Integer.toString(message.failures()), payload, "");
    }

    private List<String> row(DeadLetter letter) {
        return List.of("dead letter", letter.messageId(), letter.dueAt().toString(), "",
                Integer.toString(letter.failures()), text(letter.payload()), letter.reason());
    }

    private static String text(@Nullable Object value) {
        return (value != null) ? value.toString() : "";
    }

    /** Returns how long it is until a time. */
    String until(Instant due) {
        Duration left = Duration.between(now(), due);
        return left.isNegative() ? "-" + Texts.span(left.negated()) : Texts.span(left);
    }

}

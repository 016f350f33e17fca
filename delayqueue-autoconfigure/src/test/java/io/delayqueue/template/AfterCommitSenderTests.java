package io.delayqueue.template;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.AfterCommitSendFailedEvent;
import io.delayqueue.BatchSendException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayedMessage;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.fixtures.store.TemplateFakeStore;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.StoreComponents;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/**
 * Sends that wait for a commit: DEFERRED under P1, never after a rollback, never lost
 * after a commit without an event that says so.
 */
class AfterCommitSenderTests {

    private final TemplateFixture templates = new TemplateFixture(() -> 1_000_000);

    private final TemplateFakeStore store = this.templates.store;

    private final DelayQueueTemplate template = this.templates.template(true, TemplateFixture.AGES, System::nanoTime);

    private final TransactionTemplate transaction = new TransactionTemplate(new ResourcelessTransactionManager());

    @AfterEach
    void nothingStaysBoundToTheThread() {
        assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
        assertThat(TransactionSynchronizationManager.isSynchronizationActive()).isFalse();
    }

    @Test
    void aCommitSendsDeferredMessagesInOneCallAndInOrder() {
        this.transaction.executeWithoutResult((status) -> {
            assertThat(this.template.send(message("a"))).isEqualTo(deferred("a"));
            assertThat(this.template.sendAsync(message("b"))).isCompletedWithValue(deferred("b"));
            assertThat(this.template.sendAll(List.of(message("c"), message("d")))).containsExactly(deferred("c"),
                    deferred("d"));
            assertThat(this.store.calls).isEmpty();
        });

        assertThat(this.store.calls).containsExactly("schedule q [a, b, c, d]");
        assertThat(this.templates.events).isEmpty();
    }

    @Test
    void theIdReturnedByTheCallIsTheIdStored() {
        SendResult result = this.transaction.execute((status) -> this.template.send("q", "x", Duration.ofSeconds(1)));

        assertThat(result).isEqualTo(deferred(result.id()));
        assertThat(this.store.ids("q")).containsExactly(result.id());
    }

    @Test
    void aRollbackSendsNothing() {
        this.transaction.executeWithoutResult((status) -> {
            this.template.send(message("a"));
            status.setRollbackOnly();
        });

        assertThat(this.store.calls).isEmpty();
    }

    @Test
    void withoutATransactionTheSendHappensAtOnce() {
        assertThat(this.template.send(message("a")).outcome()).isEqualTo(SendOutcome.SCHEDULED);
    }

    @Test
    void aMessageMayAskNotToWaitAndOneMayAskToWait() {
        DelayQueueTemplate eager = this.templates.template();
        this.transaction.executeWithoutResult((status) -> {
            assertThat(this.template.send(message("now").toBuilder().afterCommit(false).build()).outcome())
                .isEqualTo(SendOutcome.SCHEDULED);
            assertThat(eager.send(message("also")).outcome()).isEqualTo(SendOutcome.SCHEDULED);
            assertThat(eager.send(message("later").toBuilder().afterCommit(true).build())).isEqualTo(deferred("later"));
        });

        assertThat(this.store.calls).containsExactly("schedule q [now]", "schedule q [also]", "schedule q [later]");
    }

    @Test
    void aMixedBatchKeepsTheOrderOfItsResults() {
        this.transaction.executeWithoutResult((status) -> assertThat(this.template
            .sendAll(List.of(message("a"), message("b").toBuilder().afterCommit(false).build(), message("c"))))
            .extracting(SendResult::id, SendResult::outcome)
            .containsExactly(tuple("a", SendOutcome.DEFERRED), tuple("b", SendOutcome.SCHEDULED),
                    tuple("c", SendOutcome.DEFERRED)));

        assertThat(this.store.calls).containsExactly("schedule q [b]", "schedule q [a, c]");
    }

    @Test
    void aMixedBatchThatFailsDefersNothing() {
        this.store.failOn("schedule", unavailable());
        this.transaction.executeWithoutResult((status) -> assertThatExceptionOfType(BatchSendException.class)
            .isThrownBy(() -> this.template
                .sendAll(List.of(message("a"), message("b").toBuilder().afterCommit(false).build())))
            .satisfies((ex) -> assertThat(ex.notStored()).extracting((message) -> message.id().orElseThrow())
                .containsExactly("a"))
            .satisfies((ex) -> assertThat(ex.unknown()).hasSize(1)));

        assertThat(this.store.calls).containsExactly("schedule q [b]");
    }

    @Test
    void argumentsAndPayloadsAreCheckedAtTheCall() {
        this.transaction.executeWithoutResult((status) -> assertThatIllegalArgumentException()
            .isThrownBy(() -> this.template.send("q", "4".repeat(TemplateFixture.MAX_PAYLOAD_SIZE), Duration.ZERO)));

        assertThat(this.store.calls).isEmpty();
    }

    @Test
    void aPayloadIsStoredAsItWasAtTheCall() {
        StringBuilder payload = new StringBuilder("early");
        this.transaction.executeWithoutResult((status) -> {
            this.template.send("q", payload, Duration.ZERO);
            payload.append(" late");
        });

        assertThat(new String(this.store.scheduled.get(0).envelope())).contains("\"early\"");
    }

    @Test
    void anInnerTransactionOfItsOwnSendsItsOwnMessagesAlone() {
        TransactionTemplate inner = new TransactionTemplate(this.transaction.getTransactionManager());
        inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        this.transaction.executeWithoutResult((outerStatus) -> {
            this.template.send(message("outer1"));
            inner.executeWithoutResult((status) -> this.template.send(message("inner")));
            assertThat(this.store.calls).containsExactly("schedule q [inner]");
            inner.executeWithoutResult((status) -> {
                this.template.send(message("never"));
                status.setRollbackOnly();
            });
            this.template.send(message("outer2"));
        });

        assertThat(this.store.calls).containsExactly("schedule q [inner]", "schedule q [outer1, outer2]");
    }

    @Test
    void anOuterRollbackLeavesTheInnerMessagesSent() {
        TransactionTemplate inner = new TransactionTemplate(this.transaction.getTransactionManager());
        inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        this.transaction.executeWithoutResult((outerStatus) -> {
            this.template.send(message("outer"));
            inner.executeWithoutResult((status) -> this.template.send(message("inner")));
            outerStatus.setRollbackOnly();
        });

        assertThat(this.store.calls).containsExactly("schedule q [inner]");
    }

    @Test
    void workWithoutATransactionInsideOneSendsAtOnce() {
        TransactionTemplate inner = new TransactionTemplate(this.transaction.getTransactionManager());
        inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_NOT_SUPPORTED);
        this.transaction.executeWithoutResult((outerStatus) -> {
            inner.executeWithoutResult((status) -> assertThat(this.template.send(message("now")).outcome())
                .isEqualTo(SendOutcome.SCHEDULED));
            outerStatus.setRollbackOnly();
        });
    }

    @Test
    void aRollbackToASavepointForgetsWhatCameAfterIt() {
        TransactionTemplate nested = new TransactionTemplate(this.transaction.getTransactionManager());
        nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
        this.transaction.executeWithoutResult((outerStatus) -> {
            nested.executeWithoutResult((status) -> {
                this.template.send(message("first of all, undone"));
                status.setRollbackOnly();
            });
            this.template.send(message("kept1"));
            nested.executeWithoutResult((status) -> {
                this.template.send(message("undone"));
                status.setRollbackOnly();
            });
            nested.executeWithoutResult((status) -> this.template.send(message("kept2")));
        });

        assertThat(this.store.calls).containsExactly("schedule q [kept1, kept2]");
    }

    @Test
    void aFailureAfterTheCommitIsAnEventAndNeverThrown() {
        this.store.failOn("schedule", unavailable());

        this.transaction.executeWithoutResult((status) -> {
            this.template.send(message("a"));
            this.template.send("q", "x", Duration.ZERO);
        });

        AfterCommitSendFailedEvent event = (AfterCommitSendFailedEvent) this.templates.events.get(0);
        assertThat(event.messages()).hasSize(2).allMatch((message) -> message.id().isPresent());
        assertThat(event.failure().effect()).isEqualTo(Effect.UNKNOWN);
        assertThat(this.templates.events).hasSize(1);
    }

    @Test
    void aLayoutThatCannotBeReadLosesOnlyTheMessagesOfItsQueue() {
        PartitionLayoutStore records = mock(PartitionLayoutStore.class);
        when(records.read(any())).thenReturn(CompletableFuture.completedFuture(Optional.empty()));
        when(records.read(Partition.first(new QueueName("q1"))))
            .thenReturn(CompletableFuture.failedFuture(unavailable()));
        DelayQueueTemplate other = this.templates.template(new PartitionLayouts(records, (queue) -> 0, () -> 0));

        this.transaction.executeWithoutResult((status) -> {
            other.send(message("q1", "a").toBuilder().afterCommit(true).build());
            other.send(message("q2", "b").toBuilder().afterCommit(true).build());
        });

        assertThat(this.store.calls).containsExactly("schedule q2 [b]");
        assertThat(failedIds()).containsExactly("a");
    }

    @Test
    void aRefusedMessageDoesNotCostTheOthers() {
        this.store.failOn("schedule q1", new StoreRefusedException("another group", null));

        sendToSixQueues(this.template);

        assertThat(this.store.calls).contains("schedule q5 [e]", "schedule q6 [f]").hasSize(6);
        assertThat(failedIds()).containsExactly("a");
    }

    @Test
    void aRefusedMessageDoesNotCostLaterMessagesOfItsQueue() {
        this.store.failOn("schedule q [m0, ", new StoreRefusedException("full", null));

        this.transaction.executeWithoutResult((status) -> {
            for (int i = 0; i < 5 * MessageStore.BATCH_LIMIT; i++) {
                this.template.send(message("m" + i));
            }
        });

        assertThat(this.store.ids("q")).hasSize(4 * MessageStore.BATCH_LIMIT);
        assertThat(failedIds()).hasSize(MessageStore.BATCH_LIMIT);
    }

    @Test
    void aMessageOnTooFewReplicasDoesNotCostLaterMessagesOfItsQueue() {
        this.store.failOn("schedule q [a]", new NotReplicatedException("on 0 of 1 replicas", null));

        this.transaction.executeWithoutResult((status) -> {
            this.template.send(message("a"));
            this.template.send(message("a").toBuilder().onDuplicate(OnDuplicate.REPLACE).build());
        });

        assertThat(this.store.calls).containsExactly("schedule q [a]", "schedule q [a]");
    }

    /** The connection of the transaction is held as long as the calls last. */
    @Test
    void noFurtherCallBeginsOnceTheTimeLimitOfAnAnswerHasPassed() {
        this.store.failOn("schedule q1", unavailable());

        sendToSixQueues(this.templates.template(true, Duration.ofNanos(1), System::nanoTime));

        assertThat(this.store.calls).containsExactly("schedule q1 [a]", "schedule q2 [b]", "schedule q3 [c]",
                "schedule q4 [d]");
        assertThat(failedIds()).containsExactlyInAnyOrder("a", "e", "f");
    }

    @Test
    void theFailureHoldsTheCauseOfEachQueue() {
        this.store.answers = (call, effect) -> CompletableFuture
            .failedFuture(new StoreRefusedException(call.substring(0, call.indexOf('[')).strip(), null));

        sendToSixQueues(this.template);

        assertThat(failedIds()).containsExactly("a", "b", "c", "d", "e", "f");
        AfterCommitSendFailedEvent event = (AfterCommitSendFailedEvent) this.templates.events.get(0);
        assertThat(event.failure()).cause().hasMessage("schedule q1");
        assertThat(event.failure().getCause().getSuppressed()).extracting(Throwable::getMessage)
            .containsExactly("schedule q2", "schedule q3", "schedule q4", "schedule q5", "schedule q6");
    }

    private void sendToSixQueues(DelayQueueTemplate sender) {
        this.transaction.executeWithoutResult((status) -> {
            for (int i = 0; i < 6; i++) {
                sender.send(message("q" + (i + 1), "abcdef".substring(i, i + 1)));
            }
        });
    }

    private List<String> failedIds() {
        AfterCommitSendFailedEvent event = (AfterCommitSendFailedEvent) this.templates.events.get(0);
        assertThat(this.templates.events).hasSize(1);
        return event.messages().stream().map((message) -> message.id().orElseThrow()).toList();
    }

    @Test
    void anEventListenerThatThrowsDoesNotReachTheCaller() {
        this.store.failOn("schedule", unavailable());
        DelayQueueTemplate unheard = new DelayQueueTemplate(
                new StoreComponents(this.store, this.store, this.store, TemplateFixture.PARTITIONS),
                TemplateFixture.CODEC, new TemplateSettings(100, true, TemplateFixture.AGES, (queue) -> null),
                (event) -> {
                    throw new IllegalStateException("listener");
                }, System::nanoTime);

        this.transaction.executeWithoutResult((status) -> unheard.send(message("a")));

        assertThat(this.store.calls).hasSize(1);
    }

    @Test
    void anInterruptOfTheCommittingThreadDoesNotCostTheMessages() {
        this.store.answers = (call, effect) -> CompletableFuture.supplyAsync(effect);

        this.transaction.executeWithoutResult((status) -> {
            this.template.send(message("a"));
            Thread.currentThread().interrupt();
        });

        assertThat(Thread.interrupted()).isTrue();
        assertThat(this.store.ids("q")).containsExactly("a");
        assertThat(this.templates.events).isEmpty();
    }

    @Test
    void anInterruptDuringTheSendsDoesNotCostTheMessages() {
        Thread committing = Thread.currentThread();
        this.store.answers = (call, effect) -> {
            committing.interrupt();
            return CompletableFuture.supplyAsync(() -> {
                await().until(() -> !committing.isInterrupted());
                return effect.get();
            });
        };

        sendToSixQueues(this.template);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(this.templates.events).isEmpty();
        assertThat(this.store.scheduled).extracting(NewMessage::id)
            .containsExactlyInAnyOrder("a", "b", "c", "d", "e", "f");
    }

    @Test
    void aListenerOfAFailureIsNotInterrupted() {
        this.store.answers = (call, effect) -> {
            Thread.currentThread().interrupt();
            return CompletableFuture.failedFuture(unavailable());
        };
        List<Boolean> interrupted = new ArrayList<>();
        DelayQueueTemplate sender = new DelayQueueTemplate(
                new StoreComponents(this.store, this.store, this.store, TemplateFixture.PARTITIONS),
                TemplateFixture.CODEC, new TemplateSettings(100, true, TemplateFixture.AGES, (queue) -> null),
                (event) -> interrupted.add(Thread.currentThread().isInterrupted()), System::nanoTime);

        this.transaction.executeWithoutResult((status) -> sender.send(message("a")));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(interrupted).containsExactly(false);
    }

    @Test
    void aSendInACallbackAfterTheCommitHappensAtOnce() {
        this.transaction.executeWithoutResult((status) -> {
            this.template.send(message("a"));
            afterCommit(() -> assertThat(this.template.send(message("b")).outcome()).isEqualTo(SendOutcome.SCHEDULED));
        });

        assertThat(this.store.calls).containsExactly("schedule q [a]", "schedule q [b]");
    }

    @Test
    void theFirstSendOfATransactionMayBeInACallbackAfterTheCommit() {
        this.transaction.executeWithoutResult((status) -> afterCommit(() -> this.template.send(message("a"))));

        assertThat(this.store.calls).containsExactly("schedule q [a]");
    }

    @Test
    void aSendInACallbackThatRunsBeforeOursIsSentWithTheRest() {
        this.transaction.executeWithoutResult((status) -> {
            afterCommit(() -> this.template.send(message("b")));
            this.template.send(message("a"));
        });

        assertThat(this.store.calls).containsExactly("schedule q [a, b]");
    }

    @Test
    void aSendInACallbackOnCompletionHappensAtOnce() {
        this.transaction.executeWithoutResult((status) -> {
            this.template.send(message("a"));
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void afterCompletion(int completion) {
                    AfterCommitSenderTests.this.template.send(message("b"));
                }
            });
        });

        assertThat(this.store.ids("q")).containsExactly("a", "b");
    }

    @Test
    void anotherCallbackThatThrowsDoesNotCostTheMessages() {
        assertThatIllegalStateException().isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
            afterCommit(() -> {
                throw new IllegalStateException("theirs");
            });
            this.template.send(message("a"));
        })).withMessage("theirs");

        assertThat(this.store.calls).containsExactly("schedule q [a]");
    }

    @Test
    void aCommitThatFailsSendsNothing() {
        TransactionTemplate failing = new TransactionTemplate(new ResourcelessTransactionManager() {
            @Override
            protected void doCommit(DefaultTransactionStatus status) {
                throw new IllegalStateException("no commit");
            }
        });

        assertThatIllegalStateException()
            .isThrownBy(() -> failing.executeWithoutResult((status) -> this.template.send(message("a"))));

        assertThat(this.store.calls).isEmpty();
    }

    private static void afterCommit(Runnable action) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void afterCommit() {
                action.run();
            }
        });
    }

    private static StoreUnavailableException unavailable() {
        return new StoreUnavailableException("away", Effect.UNKNOWN, null);
    }

    private static DelayedMessage message(String id) {
        return message("q", id.replaceAll("[ ,]", "-"));
    }

    private static DelayedMessage message(String queue, String id) {
        return DelayedMessage.builder(queue, "x").id(id).build();
    }

    private static SendResult deferred(String id) {
        return new SendResult("q", id, null, SendOutcome.DEFERRED);
    }

}

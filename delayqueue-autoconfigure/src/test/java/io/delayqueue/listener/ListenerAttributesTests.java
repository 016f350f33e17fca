package io.delayqueue.listener;

import java.util.List;
import java.util.Map;

import io.delayqueue.Backoff;
import io.delayqueue.DelayedListener;
import io.delayqueue.listener.handler.InvalidListenerException;
import org.junit.jupiter.api.Test;

import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;
import org.springframework.core.env.MapPropertySource;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Tests which attributes of listeners are rejected, and how. */
class ListenerAttributesTests {

    private InvalidListenerException refused(Class<?>... beans) {
        try (ListenerContext context = new ListenerContext().with(beans)) {
            context.registerBean(PropertySourcesPlaceholderConfigurer.class);
            context.getEnvironment()
                .getPropertySources()
                .addFirst(new MapPropertySource("test", Map.of("time", "90s")));
            InvalidListenerException refused = ListenerContext
                .refusal(catchThrowableOfType(Exception.class, context::refresh));
            assertThat(refused).isNotNull();
            return refused;
        }
    }

    @Test
    void refusesTwoListenersOfOneId() {
        InvalidListenerException refused = refused(SameId.class, SameIdToo.class);

        assertThat(refused.problem()).isEqualTo("id must be unique, but another listener has 'same'");
        assertThat(refused.beanName()).isEqualTo("SameIdToo");
        assertThat(refused.method()).endsWith("SameIdToo.handle(String)");
        assertThat(refused).hasMessageContaining("of bean 'SameIdToo' is not valid: id must be unique");
    }

    @Test
    void refusesNoQueue() {
        assertThat(refused(NoQueue.class).problem()).startsWith("queues must name at least one queue");
    }

    @Test
    void refusesAQueueNameThatIsNotValid() {
        assertThat(refused(BadQueue.class).problem()).startsWith("Queue name 'not valid' is not valid");
    }

    @Test
    void refusesAQueueThatIsThereTwice() {
        assertThat(refused(QueueTwice.class).problem()).isEqualTo("queues must differ, but 'a' is there twice");
    }

    @Test
    void refusesABatchSizeThatIsOutOfRangeOrHasNoBatch() {
        assertThat(refused(BatchTooLarge.class).problem()).isEqualTo("batchSize must be 1 to 100, but was 101");
        assertThat(refused(BatchEmpty.class).problem()).isEqualTo("batchSize must be 1 to 100, but was 0");
        assertThat(refused(NoBatch.class).problem()).isEqualTo("batchSize must be empty if batch is false, but was 5");
    }

    @Test
    void refusesABatchInATransaction() {
        assertThat(refused(BatchInTransaction.class).problem()).startsWith("transactional must be false");
    }

    @Test
    void refusesABatchMethodWithOtherParametersThanLists() {
        assertThat(refused(BatchOfOne.class).problem()).isEqualTo("a handler of batches has parameters of List<T>, "
                + "List<Message<T>> and List<Delivery> only, but parameter 1 is java.lang.String; List<Message<T>> has "
                + "the headers");
        assertThat(refused(BatchWithHeader.class).problem()).contains("but parameter 2 is java.util.List");
        assertThat(refused(BatchOfNothing.class).problem()).startsWith("a handler of batches needs a parameter");
        assertThat(refused(BatchTwice.class).problem()).isEqualTo("a handler of batches has at most one list of "
                + "payloads, but those of java.lang.String and java.lang.Integer are both");
        assertThat(refused(BatchOfTwoTypes.class).problem())
            .startsWith("the list of payloads and that of messages ask for different types");
    }

    @Test
    void refusesAnErrorHandlerThatIsNoBeanOfThatType() {
        assertThat(refused(NoErrorHandler.class).problem())
            .isEqualTo("errorHandler must name a bean of type DelayedListenerErrorHandler, but was 'absent'");
        assertThat(refused(WrongErrorHandler.class).problem()).isEqualTo(
                "errorHandler must name a bean of type DelayedListenerErrorHandler, but was 'WrongErrorHandler'");
    }

    @Test
    void refusesAnInvalidNumber() {
        assertThat(refused(BadNumber.class).problem())
            .isEqualTo("concurrency must be a whole number, but was '90s' (from '${time}')");
    }

    @Test
    void refusesANumberOutOfRange() {
        assertThat(refused(OutOfRange.class).problem()).isEqualTo("maxAttempts must be at least 1, but was 0");
    }

    @Test
    void refusesAnInvalidDuration() {
        assertThat(refused(BadDuration.class).problem())
            .isEqualTo("lease must be a duration such as 500ms, 30s or PT1M, but was 'soon'");
    }

    @Test
    void refusesALeaseThatIsTooShort() {
        assertThat(refused(ShortLease.class).problem()).startsWith("lease must be at least 1s").endsWith("500 ms");
    }

    @Test
    void refusesAnInvalidBoolean() {
        assertThat(refused(BadBoolean.class).problem()).isEqualTo("autoStartup must be true or false, but was 'maybe'");
    }

    @Test
    void refusesAClassThatCannotBeLoaded() {
        assertThat(refused(BadClass.class).problem()).contains("noRetryForClassName").endsWith("but was 'no.Such'");
    }

    @Test
    void refusesAClassThatIsNoThrowable() {
        assertThat(refused(NoThrowable.class).problem()).endsWith("but was 'java.lang.String'");
    }

    @Test
    void refusesAnUnresolvableAttribute() {
        assertThat(refused(BadPlaceholder.class).problem()).startsWith("queues '${absent}' cannot be resolved");
    }

    @Test
    void refusesABadBackoff() {
        assertThat(refused(BadBackoff.class).problem()).isEqualTo("backoff.jitter must be 0 to 1, but was 2.0");
    }

    @Test
    void refusesAMethodThatCannotBeAHandler() {
        assertThat(refused(BadSignature.class).problem()).startsWith("a handler has at most one parameter");
    }

    static class SameId {

        @DelayedListener(queues = "a", id = "same")
        void handle(String text) {
        }

    }

    static class SameIdToo {

        @DelayedListener(queues = "b", id = "same")
        void handle(String text) {
        }

    }

    static class NoQueue {

        @DelayedListener(" ")
        void handle(String text) {
        }

    }

    static class BadQueue {

        @DelayedListener("not valid")
        void handle(String text) {
        }

    }

    static class QueueTwice {

        @DelayedListener({ "a", "b,a" })
        void handle(String text) {
        }

    }

    static class BadNumber {

        @DelayedListener(queues = "a", concurrency = "${time}")
        void handle(String text) {
        }

    }

    static class OutOfRange {

        @DelayedListener(queues = "a", maxAttempts = "0")
        void handle(String text) {
        }

    }

    static class BadDuration {

        @DelayedListener(queues = "a", lease = "soon")
        void handle(String text) {
        }

    }

    static class ShortLease {

        @DelayedListener(queues = "a", lease = "500ms")
        void handle(String text) {
        }

    }

    static class BadBoolean {

        @DelayedListener(queues = "a", autoStartup = "maybe")
        void handle(String text) {
        }

    }

    static class BadClass {

        @DelayedListener(queues = "a", noRetryForClassName = "no.Such")
        void handle(String text) {
        }

    }

    static class NoThrowable {

        @DelayedListener(queues = "a", noRetryForClassName = "java.lang.String")
        void handle(String text) {
        }

    }

    static class BadPlaceholder {

        @DelayedListener("${absent}")
        void handle(String text) {
        }

    }

    static class BadBackoff {

        @DelayedListener(queues = "a", backoff = @Backoff(jitter = "2"))
        void handle(String text) {
        }

    }

    static class BadSignature {

        @DelayedListener("a")
        void handle(String one, String other) {
        }

    }

    static class NoErrorHandler {

        @DelayedListener(queues = "a", errorHandler = "absent")
        void handle(String text) {
        }

    }

    static class WrongErrorHandler {

        @DelayedListener(queues = "a", errorHandler = "WrongErrorHandler")
        void handle(String text) {
        }

    }

    static class BatchTooLarge {

        @DelayedListener(queues = "a", batch = true, batchSize = "101")
        void handle(List<String> texts) {
        }

    }

    static class BatchEmpty {

        @DelayedListener(queues = "a", batch = true, batchSize = "0")
        void handle(List<String> texts) {
        }

    }

    static class NoBatch {

        @DelayedListener(queues = "a", batchSize = "5")
        void handle(String text) {
        }

    }

    static class BatchInTransaction {

        @DelayedListener(queues = "a", batch = true, transactional = true)
        void handle(List<String> texts) {
        }

    }

    static class BatchOfOne {

        @DelayedListener(queues = "a", batch = true)
        void handle(String text) {
        }

    }

    static class BatchWithHeader {

        @DelayedListener(queues = "a", batch = true)
        void handle(List<String> texts, @Header List<String> tenants) {
        }

    }

    static class BatchOfNothing {

        @DelayedListener(queues = "a", batch = true)
        void handle() {
        }

    }

    static class BatchTwice {

        @DelayedListener(queues = "a", batch = true)
        void handle(List<String> texts, List<Integer> numbers) {
        }

    }

    static class BatchOfTwoTypes {

        @DelayedListener(queues = "a", batch = true)
        void handle(List<String> texts, List<Message<Integer>> numbers) {
        }

    }

}

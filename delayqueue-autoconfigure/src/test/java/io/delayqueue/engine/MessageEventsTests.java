package io.delayqueue.engine;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

/** That nothing which is told can fail a message. */
class MessageEventsTests {

    private static final QueueName QUEUE = new QueueName("orders");

    static Stream<Method> transitions() {
        return Arrays.stream(QueueEvents.class.getDeclaredMethods()).filter((method) -> !method.isSynthetic());
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void aConsumerThatFailsFailsNothing(Method transition) {
        QueueEvents broken = (QueueEvents) Proxy.newProxyInstance(getClass().getClassLoader(),
                new Class<?>[] { QueueEvents.class }, (proxy, method, arguments) -> {
                    throw new IllegalStateException("broken");
                });
        MessageEvents guarded = MessageEvents.composed(List.of(eventsOf(broken)));

        assertThatCode(() -> tell(guarded.of(QUEUE, "listener"), transition)).doesNotThrowAnyException();
        assertThatCode(() -> tell(guarded.of(QUEUE), transition)).doesNotThrowAnyException();
        assertThatCode(() -> guarded.called("send", 1, true)).doesNotThrowAnyException();
    }

    @Test
    void aConsumerThatCannotBeHadIsNone() {
        MessageEvents guarded = MessageEvents.composed(List.of(eventsOf(null)));

        assertThat(guarded.of(QUEUE)).isSameAs(QueueEvents.NONE);
        assertThat(guarded.of(QUEUE, "listener")).isSameAs(QueueEvents.NONE);
    }

    @Test
    void nobodyIsNotGuarded() {
        assertThat(MessageEvents.composed(List.of(MessageEvents.NONE))).isSameAs(MessageEvents.NONE);
        assertThat(MessageEvents.composed(List.of())).isSameAs(MessageEvents.NONE);
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void severalConsumersAreNotifiedInTheirOrderThoughOneOfThemFails(Method transition) throws Throwable {
        List<String> told = new ArrayList<>();
        MessageEvents all = MessageEvents.composed(List.of(eventsOf(recording("first", told)),
                eventsOf(recording("broken", told)), eventsOf(null), eventsOf(recording("last", told))));

        tell(all.of(QUEUE), transition);
        tell(all.of(QUEUE, "listener"), transition);

        String name = transition.getName();
        List<String> once = List.of("first " + name, "broken " + name, "last " + name);
        assertThat(told).containsExactlyElementsOf(Stream.concat(once.stream(), once.stream()).toList());
    }

    private static QueueEvents recording(String consumer, List<String> told) {
        return (QueueEvents) Proxy.newProxyInstance(MessageEventsTests.class.getClassLoader(),
                new Class<?>[] { QueueEvents.class }, (proxy, method, arguments) -> {
                    told.add(consumer + " " + method.getName());
                    if (consumer.equals("broken")) {
                        throw new IllegalStateException("broken");
                    }
                    return null;
                });
    }

    @Test
    void severalConsumersHearOfScripts() {
        List<String> told = new ArrayList<>();
        MessageEvents all = MessageEvents.composed(List.of(eventsOf(null), new MessageEvents() {

            @Override
            public QueueEvents of(QueueName queue) {
                return QueueEvents.NONE;
            }

            @Override
            public QueueEvents of(QueueName queue, String listenerId) {
                return QueueEvents.NONE;
            }

            @Override
            public void called(String script, long nanos, boolean answered) {
                told.add("%s %d %s".formatted(script, nanos, answered));
            }

        }));

        all.called("send", 1, true);

        assertThat(told).containsExactly("send 1 true");
    }

    private static void tell(QueueEvents events, Method transition) throws Throwable {
        Object[] arguments = Arrays.stream(transition.getParameterTypes()).map(MessageEventsTests::argument).toArray();
        try {
            transition.invoke(events, arguments);
        }
        catch (InvocationTargetException ex) {
            throw ex.getTargetException();
        }
    }

    private static Object argument(Class<?> type) {
        return (type == SendOutcome.class) ? SendOutcome.SCHEDULED
                : (type == QueueEvents.HandlerOutcome.class) ? QueueEvents.HandlerOutcome.SUCCESS : (Object) 1L;
    }

    private static MessageEvents eventsOf(@Nullable QueueEvents ofQueue) {
        return new MessageEvents() {

            @Override
            public QueueEvents of(QueueName queue) {
                return got();
            }

            @Override
            public QueueEvents of(QueueName queue, String listenerId) {
                return got();
            }

            private QueueEvents got() {
                if (ofQueue == null) {
                    throw new IllegalStateException("broken");
                }
                return ofQueue;
            }

            @Override
            public void called(String script, long nanos, boolean answered) {
                throw new IllegalStateException("broken");
            }

        };
    }

}

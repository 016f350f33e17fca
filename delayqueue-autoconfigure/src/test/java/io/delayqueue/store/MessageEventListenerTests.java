package io.delayqueue.store;

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

/** Checks that a failing listener of events cannot fail a message. */
class MessageEventListenerTests {

    private static final QueueName QUEUE = new QueueName("orders");

    static Stream<Method> transitions() {
        return Arrays.stream(QueueEventListener.class.getDeclaredMethods()).filter((method) -> !method.isSynthetic());
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void aConsumerThatFailsFailsNothing(Method transition) {
        QueueEventListener broken = (QueueEventListener) Proxy.newProxyInstance(getClass().getClassLoader(),
                new Class<?>[] { QueueEventListener.class }, (proxy, method, arguments) -> {
                    throw new IllegalStateException("broken");
                });
        MessageEventListener guarded = MessageEventListener.composed(List.of(eventsOf(broken)));

        assertThatCode(() -> publish(guarded.of(QUEUE, "listener"), transition)).doesNotThrowAnyException();
        assertThatCode(() -> publish(guarded.of(QUEUE), transition)).doesNotThrowAnyException();
        assertThatCode(() -> guarded.called("send", 1, true)).doesNotThrowAnyException();
    }

    @Test
    void aConsumerThatCannotBeHadIsNone() {
        MessageEventListener guarded = MessageEventListener.composed(List.of(eventsOf(null)));

        assertThat(guarded.of(QUEUE)).isSameAs(QueueEventListener.NONE);
        assertThat(guarded.of(QUEUE, "listener")).isSameAs(QueueEventListener.NONE);
    }

    @Test
    void anEmptyListenerNeedsNoIsolation() {
        assertThat(MessageEventListener.composed(List.of(MessageEventListener.NONE)))
            .isSameAs(MessageEventListener.NONE);
        assertThat(MessageEventListener.composed(List.of())).isSameAs(MessageEventListener.NONE);
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void severalConsumersAreNotifiedInTheirOrderThoughOneOfThemFails(Method transition) throws Throwable {
        List<String> notified = new ArrayList<>();
        MessageEventListener all = MessageEventListener.composed(List.of(eventsOf(recording("first", notified)),
                eventsOf(recording("broken", notified)), eventsOf(null), eventsOf(recording("last", notified))));

        publish(all.of(QUEUE), transition);
        publish(all.of(QUEUE, "listener"), transition);

        String name = transition.getName();
        List<String> once = List.of("first " + name, "broken " + name, "last " + name);
        assertThat(notified).containsExactlyElementsOf(Stream.concat(once.stream(), once.stream()).toList());
    }

    private static QueueEventListener recording(String consumer, List<String> notified) {
        return (QueueEventListener) Proxy.newProxyInstance(MessageEventListenerTests.class.getClassLoader(),
                new Class<?>[] { QueueEventListener.class }, (proxy, method, arguments) -> {
                    notified.add(consumer + " " + method.getName());
                    if (consumer.equals("broken")) {
                        throw new IllegalStateException("broken");
                    }
                    return null;
                });
    }

    @Test
    void severalConsumersReceiveScriptCalls() {
        List<String> notified = new ArrayList<>();
        MessageEventListener all = MessageEventListener.composed(List.of(eventsOf(null), new MessageEventListener() {

            @Override
            public QueueEventListener of(QueueName queue) {
                return QueueEventListener.NONE;
            }

            @Override
            public QueueEventListener of(QueueName queue, String listenerId) {
                return QueueEventListener.NONE;
            }

            @Override
            public void called(String script, long nanos, boolean answered) {
                notified.add("%s %d %s".formatted(script, nanos, answered));
            }

        }));

        all.called("send", 1, true);

        assertThat(notified).containsExactly("send 1 true");
    }

    private static void publish(QueueEventListener events, Method transition) throws Throwable {
        Object[] arguments = Arrays.stream(transition.getParameterTypes())
            .map(MessageEventListenerTests::argument)
            .toArray();
        try {
            transition.invoke(events, arguments);
        }
        catch (InvocationTargetException ex) {
            throw ex.getTargetException();
        }
    }

    private static Object argument(Class<?> type) {
        return (type == SendOutcome.class) ? SendOutcome.SCHEDULED : (type == QueueEventListener.HandlerOutcome.class)
                ? QueueEventListener.HandlerOutcome.SUCCESS : (Object) 1L;
    }

    private static MessageEventListener eventsOf(@Nullable QueueEventListener ofQueue) {
        return new MessageEventListener() {

            @Override
            public QueueEventListener of(QueueName queue) {
                return got();
            }

            @Override
            public QueueEventListener of(QueueName queue, String listenerId) {
                return got();
            }

            private QueueEventListener got() {
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

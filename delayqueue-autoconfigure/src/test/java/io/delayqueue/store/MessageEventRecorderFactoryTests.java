package io.delayqueue.store;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

/** Checks that a failing listener of events cannot fail a message. */
class MessageEventRecorderFactoryTests {

    private static final QueueName QUEUE = new QueueName("orders");

    static Stream<Method> transitions() {
        return Arrays.stream(MessageEventRecorder.class.getDeclaredMethods()).filter((method) -> !method.isSynthetic());
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void aConsumerThatFailsFailsNothing(Method transition) {
        MessageEventRecorder broken = (MessageEventRecorder) Proxy.newProxyInstance(getClass().getClassLoader(),
                new Class<?>[] { MessageEventRecorder.class }, (proxy, method, arguments) -> {
                    throw new IllegalStateException("broken");
                });
        MessageEventRecorderFactory guarded = MessageEventRecorderFactory.composed(List.of(eventsOf(broken)));

        assertThatCode(() -> publish(guarded.of(QUEUE, "listener"), transition)).doesNotThrowAnyException();
        assertThatCode(() -> publish(guarded.of(QUEUE), transition)).doesNotThrowAnyException();
        assertThatCode(() -> guarded.called("send", 1, true)).doesNotThrowAnyException();
    }

    @Test
    void aConsumerThatCannotBeHadIsNone() {
        MessageEventRecorderFactory guarded = MessageEventRecorderFactory.composed(List.of(eventsOf(null)));

        assertThat(guarded.of(QUEUE)).isSameAs(MessageEventRecorder.NONE);
        assertThat(guarded.of(QUEUE, "listener")).isSameAs(MessageEventRecorder.NONE);
    }

    @Test
    void anEmptyListenerNeedsNoIsolation() {
        assertThat(MessageEventRecorderFactory.composed(List.of(MessageEventRecorderFactory.NONE)))
            .isSameAs(MessageEventRecorderFactory.NONE);
        assertThat(MessageEventRecorderFactory.composed(List.of())).isSameAs(MessageEventRecorderFactory.NONE);
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void severalConsumersAreNotifiedInTheirOrderThoughOneOfThemFails(Method transition) throws Throwable {
        List<String> notified = new ArrayList<>();
        MessageEventRecorderFactory all = MessageEventRecorderFactory
            .composed(List.of(eventsOf(recording("first", notified)), eventsOf(recording("broken", notified)),
                    eventsOf(null), eventsOf(recording("last", notified))));

        publish(all.of(QUEUE), transition);
        publish(all.of(QUEUE, "listener"), transition);

        String name = transition.getName();
        List<String> once = List.of("first " + name, "broken " + name, "last " + name);
        assertThat(notified).containsExactlyElementsOf(Stream.concat(once.stream(), once.stream()).toList());
    }

    private static MessageEventRecorder recording(String consumer, List<String> notified) {
        return (MessageEventRecorder) Proxy.newProxyInstance(MessageEventRecorderFactoryTests.class.getClassLoader(),
                new Class<?>[] { MessageEventRecorder.class }, (proxy, method, arguments) -> {
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
        MessageEventRecorderFactory all = MessageEventRecorderFactory
            .composed(List.of(eventsOf(null), new MessageEventRecorderFactory() {

                @Override
                public MessageEventRecorder of(QueueName queue) {
                    return MessageEventRecorder.NONE;
                }

                @Override
                public MessageEventRecorder of(QueueName queue, String listenerId) {
                    return MessageEventRecorder.NONE;
                }

                @Override
                public void called(String script, long nanos, boolean answered) {
                    notified.add("%s %d %s".formatted(script, nanos, answered));
                }

            }));

        all.called("send", 1, true);

        assertThat(notified).containsExactly("send 1 true");
    }

    private static void publish(MessageEventRecorder events, Method transition) throws Throwable {
        Object[] arguments = Arrays.stream(transition.getParameterTypes())
            .map(MessageEventRecorderFactoryTests::argument)
            .toArray();
        try {
            transition.invoke(events, arguments);
        }
        catch (InvocationTargetException ex) {
            throw ex.getTargetException();
        }
    }

    private static Object argument(Class<?> type) {
        return type.isEnum() ? type.getEnumConstants()[0] : (Object) 1L;
    }

    private static MessageEventRecorderFactory eventsOf(@Nullable MessageEventRecorder ofQueue) {
        return new MessageEventRecorderFactory() {

            @Override
            public MessageEventRecorder of(QueueName queue) {
                return got();
            }

            @Override
            public MessageEventRecorder of(QueueName queue, String listenerId) {
                return got();
            }

            private MessageEventRecorder got() {
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

package io.delayqueue.listener;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import io.delayqueue.DelayedListener;
import io.delayqueue.Delivery;
import io.delayqueue.fixtures.LogCapture;
import io.delayqueue.listener.handler.InvalidListenerException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/** Tests which listeners of one application may share a queue. */
class PayloadTypeAgreementTests {

    static Stream<List<Class<?>>> different() {
        return Stream.of(List.of(OfOrder.class, OfInvoice.class), List.of(OfOrder.class, OfSpecialOrder.class),
                List.of(OfOrder.class, OfOrders.class), List.of(OfOrders.class, OfInvoices.class),
                List.of(OfOrder.class, OfInvoiceMessage.class), List.of(OfOrder.class, OfMap.class),
                List.of(OfLong.class, OfText.class), List.of(OfBytes.class, OfOrder.class),
                List.of(OfNothing.class, OfOrder.class, OfInvoice.class));
    }

    @ParameterizedTest
    @MethodSource
    void different(List<Class<?>> beans) {
        try (ListenerContext context = new ListenerContext().with(beans.toArray(Class<?>[]::new))) {
            InvalidListenerException refused = ListenerContext.refusal(catchThrowable(context::refresh));

            assertThat(refused).isNotNull();
            assertThat(refused.problem()).startsWith("it reads messages of queue 'orders' as ");
        }
    }

    static Stream<List<Class<?>>> alike() {
        return Stream.of(List.of(OfOrder.class, OfOrderToo.class), List.of(OfOrder.class, OfOrderMessage.class),
                List.of(OfOrders.class, OfOrdersToo.class), List.of(OfLong.class, OfLongObject.class),
                List.of(OfOrder.class, OfJson.class), List.of(OfAny.class, OfOrder.class),
                List.of(OfAnyMessage.class, OfOrder.class), List.of(OfNothing.class, OfOrder.class),
                List.of(OfOrder.class, OfHeaders.class));
    }

    @ParameterizedTest
    @MethodSource
    void alike(List<Class<?>> beans) {
        try (LogCapture log = new LogCapture();
                ListenerContext context = new ListenerContext().with(beans.toArray(Class<?>[]::new))) {
            context.refresh();

            assertThat(context.getBean(DelayedListenerRegistry.class).listeners()).hasSize(2);
            assertThat(log.lines(Level.WARN)).singleElement()
                .asString()
                .endsWith("share the messages of queue 'orders': each message is handled by only one of them");
        }
    }

    @Test
    void theRefusalNamesBothMethodsAndBothTypes() {
        try (ListenerContext context = new ListenerContext().with(OfOrder.class, OfInvoice.class)) {
            InvalidListenerException refused = ListenerContext.refusal(catchThrowable(context::refresh));

            assertThat(refused).hasMessage("@DelayedListener on method '%s.handle(Invoice)' of bean 'OfInvoice' is not "
                    + "valid: it reads messages of queue 'orders' as %s, but method '%s.handle(Order)' of bean 'OfOrder' "
                    + "reads them as %s. Each message goes to only one of the two: use one payload type, Object to "
                    + "accept any JSON, or a queue for each type", OfInvoice.class.getName(), Invoice.class.getName(),
                    OfOrder.class.getName(), Order.class.getName());
        }
    }

    @Test
    void theLineNamesBothMethods() {
        try (LogCapture log = new LogCapture();
                ListenerContext context = new ListenerContext().with(OfOrder.class, OfOrderToo.class)) {
            context.refresh();

            assertThat(log.lines(Level.WARN)).containsExactly(("Method '%s.handle(Order)' of bean 'OfOrder' and "
                    + "method '%s.handle(Order)' of bean 'OfOrderToo' share the messages of queue 'orders': each "
                    + "message is handled by only one of them")
                .formatted(OfOrder.class.getName(), OfOrderToo.class.getName()));
        }
    }

    @Test
    void aListenerThatComesLateIsRefusedToo() {
        try (ListenerContext context = new ListenerContext().with(OfOrder.class)) {
            context.registerBean("late", OfInvoice.class, (definition) -> definition.setLazyInit(true));
            context.refresh();

            assertThat(ListenerContext.refusal(catchThrowable(() -> context.getBean("late")))).isNotNull();
            assertThat(context.getBean(DelayedListenerRegistry.class).listeners()).hasSize(1);
        }
    }

    @Test
    void listenersOfSeveralQueuesAreComparedQueueByQueue() {
        try (LogCapture log = new LogCapture();
                ListenerContext context = new ListenerContext().with(OfOrder.class, OfBills.class)) {
            context.refresh();

            assertThat(log.lines(Level.WARN)).isEmpty();
        }
        try (ListenerContext context = new ListenerContext().with(OfOrder.class, OfBillsAndOrders.class)) {
            assertThat(ListenerContext.refusal(catchThrowable(context::refresh))).isNotNull();
        }
    }

    static class Order {

    }

    static class SpecialOrder extends Order {

    }

    static class Invoice {

    }

    static class OfOrder {

        @DelayedListener("orders")
        void handle(Order order) {
        }

    }

    static class OfOrderToo {

        @DelayedListener("orders")
        void handle(Order order) {
        }

    }

    static class OfOrderMessage {

        @DelayedListener("orders")
        void handle(Message<Order> message) {
        }

    }

    static class OfInvoiceMessage {

        @DelayedListener("orders")
        void handle(Message<Invoice> message) {
        }

    }

    static class OfAnyMessage {

        @DelayedListener("orders")
        void handle(Message<?> message) {
        }

    }

    static class OfSpecialOrder {

        @DelayedListener("orders")
        void handle(SpecialOrder order) {
        }

    }

    static class OfInvoice {

        @DelayedListener("orders")
        void handle(Invoice invoice) {
        }

    }

    static class OfOrders {

        @DelayedListener("orders")
        void handle(List<Order> orders) {
        }

    }

    abstract static class OfMany<T> {

        @DelayedListener("orders")
        void handle(List<T> values) {
        }

    }

    static class OfOrdersToo extends OfMany<Order> {

    }

    static class OfInvoices extends OfMany<Invoice> {

    }

    static class OfMap {

        @DelayedListener("orders")
        void handle(Map<String, Object> order) {
        }

    }

    static class OfLong {

        @DelayedListener("orders")
        void handle(long number) {
        }

    }

    static class OfLongObject {

        @DelayedListener("orders")
        void handle(Long number) {
        }

    }

    static class OfText {

        @DelayedListener("orders")
        void handle(String text) {
        }

    }

    static class OfBytes {

        @DelayedListener("orders")
        void handle(byte[] bytes) {
        }

    }

    static class OfJson {

        @DelayedListener("orders")
        void handle(JsonNode json) {
        }

    }

    static class OfAny {

        @DelayedListener("orders")
        void handle(Object payload) {
        }

    }

    static class OfNothing {

        @DelayedListener("orders")
        void handle(Delivery delivery) {
        }

    }

    static class OfHeaders {

        @DelayedListener("orders")
        void handle(@Header("tenant") String tenant) {
        }

    }

    static class OfBills {

        @DelayedListener("bills")
        void handle(Invoice invoice) {
        }

    }

    static class OfBillsAndOrders {

        @DelayedListener({ "bills", "orders" })
        void handle(Invoice invoice) {
        }

    }

}

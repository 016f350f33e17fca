package io.delayqueue.test.autoconfigure;

import java.io.IOException;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedListenerErrorHandler;
import io.delayqueue.Delivery;
import io.delayqueue.ErrorDecision;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.module.SimpleModule;

import org.springframework.boot.jackson.JacksonComponent;
import org.springframework.core.type.classreading.MetadataReaderFactory;
import org.springframework.core.type.classreading.SimpleMetadataReaderFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** Verifies which components a test of listeners has. */
class DelayQueueTypeExcludeFilterTests {

    @Test
    void aTestWithoutNamesHasListenersAndErrorHandlers() throws IOException {
        assertThat(isIncluded(All.class, Orders.class)).isTrue();
        assertThat(isIncluded(All.class, Payments.class)).isTrue();
        assertThat(isIncluded(All.class, Refunds.class)).as("inherits a listener method").isTrue();
        assertThat(isIncluded(All.class, ErrorHandler.class)).isTrue();
        assertThat(isIncluded(All.class, Service.class)).isFalse();
    }

    @Test
    void aTestOfAListenerHasTheErrorHandlersToo() throws IOException {
        assertThat(isIncluded(Named.class, Orders.class)).isTrue();
        assertThat(isIncluded(Named.class, Payments.class)).isFalse();
        assertThat(isIncluded(Named.class, ErrorHandler.class)).isTrue();
        assertThat(isIncluded(Named.class, Service.class)).isFalse();
    }

    /** Or payloads would be written and read in another way than by the application. */
    @ParameterizedTest
    @ValueSource(classes = { All.class, Named.class })
    void aTestHasTheJsonOfTheApplication(Class<?> test) throws IOException {
        assertThat(isIncluded(test, MoneySerializer.class)).isTrue();
        assertThat(isIncluded(test, MoneyModule.class)).isTrue();
    }

    @Test
    void aTestWithoutDefaultFiltersHasNone() throws IOException {
        assertThat(isIncluded(Unfiltered.class, ErrorHandler.class)).isFalse();
    }

    private static boolean isIncluded(Class<?> test, Class<?> component) throws IOException {
        MetadataReaderFactory factory = new SimpleMetadataReaderFactory();
        return !new DelayQueueTypeExcludeFilter(test).match(factory.getMetadataReader(component.getName()), factory);
    }

    @DelayQueueTest
    static class All {

    }

    @DelayQueueTest(Orders.class)
    static class Named {

    }

    @DelayQueueTest(useDefaultFilters = false)
    static class Unfiltered {

    }

    static class Orders {

        @DelayedListener("orders")
        void handle(String payload) {
        }

    }

    static class Payments {

        @DelayedListener("payments")
        void handle(String payload) {
        }

    }

    static class Refunds extends Payments {

    }

    static class ErrorHandler implements DelayedListenerErrorHandler {

        @Override
        public ErrorDecision handleError(Delivery delivery, Throwable error) {
            return ErrorDecision.deadLetter();
        }

    }

    @JacksonComponent
    static class MoneySerializer extends ValueSerializer<Money> {

        @Override
        public void serialize(Money money, JsonGenerator json, SerializationContext context) {
            json.writeNumber(money.cents());
        }

    }

    static class MoneyModule extends SimpleModule {

        private static final long serialVersionUID = 1L;

    }

    /** Holds an amount. */
    record Money(long cents) {
    }

    static class Service {

    }

}

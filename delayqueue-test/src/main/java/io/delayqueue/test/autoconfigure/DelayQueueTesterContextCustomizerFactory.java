package io.delayqueue.test.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;

import org.jspecify.annotations.Nullable;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.TestContextAnnotationUtils;
import org.springframework.test.context.support.TestPropertySourceUtils;

/**
 * Applies the attributes of {@link AutoConfigureDelayQueueTester} to a context. Contexts
 * with other attributes are not shared.
 */
final class DelayQueueTesterContextCustomizerFactory implements ContextCustomizerFactory {

    @Override
    public @Nullable ContextCustomizer createContextCustomizer(Class<?> testClass,
            List<ContextConfigurationAttributes> configAttributes) {
        AutoConfigureDelayQueueTester annotation = TestContextAnnotationUtils.findMergedAnnotation(testClass,
                AutoConfigureDelayQueueTester.class);
        return (annotation != null) ? new Customizer(annotation.store(), annotation.startAt(), annotation.joinClock())
                : null;
    }

    /** Holds the attributes, by which contexts are compared. */
    private record Customizer(TestStoreType store, String startAt, boolean joinClock) implements ContextCustomizer {

        @Override
        public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration mergedConfig) {
            List<String> properties = new ArrayList<>();
            String type = this.store.name().toLowerCase(Locale.ROOT);
            properties.add("delayqueue.store=" + type);
            properties.add(DelayQueueTesterProperties.STORE + "=" + type);
            properties.add("delayqueue.namespace=${delayqueue.test.namespace:%s}".formatted(newNamespace()));
            if (this.joinClock) {
                properties.add("delayqueue.test.join-clock=true");
            }
            if (!this.startAt.isEmpty()) {
                properties.add("delayqueue.test.start-at=" + this.startAt);
            }
            TestPropertySourceUtils.addInlinedPropertiesToEnvironment(context, properties.toArray(String[]::new));
        }

        private static String newNamespace() {
            return "test-" + Long.toString(ThreadLocalRandom.current().nextLong() >>> 1, Character.MAX_RADIX);
        }

    }

}

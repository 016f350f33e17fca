package io.delayqueue.test.autoconfigure;

import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.parallel.ResourceLocksProvider;

import org.springframework.test.context.BootstrapUtils;

/**
 * Makes test classes that share an application context run one after another if tests run
 * in parallel, because they share its time and its namespace. Classes with other contexts
 * do not wait for them.
 */
final class ContextLocksProvider implements ResourceLocksProvider {

    @Override
    public Set<Lock> provideForClass(Class<?> testClass) {
        return Set.of(new Lock("io.delayqueue.test.context." + context(testClass)));
    }

    @Override
    public Set<Lock> provideForNestedClass(List<Class<?>> enclosingInstanceTypes, Class<?> testClass) {
        return provideForClass(testClass);
    }

    /** Identifies the context; two contexts with one identity merely wait. */
    private static String context(Class<?> testClass) {
        try {
            return Integer.toHexString(BootstrapUtils.resolveTestContextBootstrapper(testClass)
                .buildMergedContextConfiguration()
                .hashCode());
        }
        catch (RuntimeException ex) {
            // The test will fail to load its context, and report why.
            return testClass.getName();
        }
    }

}

package io.delayqueue.test;

import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestContextAnnotationUtils;
import org.springframework.test.context.TestExecutionListener;

/**
 * Gives each test method an empty namespace and a new start of time, if its context has a
 * {@link DelayQueueTester}.
 */
final class DelayQueueTesterTestExecutionListener implements TestExecutionListener, Ordered {

    /** Before transactions of tests begin. */
    private static final int ORDER = 3500;

    @Override
    public int getOrder() {
        return ORDER;
    }

    @Override
    public void beforeTestMethod(TestContext testContext) {
        DelayQueueTester tester = tester(testContext);
        if (tester != null) {
            tester.begin(deliversTwice(testContext));
        }
    }

    private static @Nullable DelayQueueTester tester(TestContext testContext) {
        return testContext.hasApplicationContext()
                ? testContext.getApplicationContext().getBeanProvider(DelayQueueTester.class).getIfAvailable() : null;
    }

    private static boolean deliversTwice(TestContext testContext) {
        return AnnotatedElementUtils.hasAnnotation(testContext.getTestMethod(), DeliverTwice.class)
                || TestContextAnnotationUtils.hasAnnotation(testContext.getTestClass(), DeliverTwice.class);
    }

}

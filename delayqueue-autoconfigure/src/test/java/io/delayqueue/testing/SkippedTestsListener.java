package io.delayqueue.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Says at the end of a run what was skipped and why, which Surefire keeps to itself.
 * Threads: guarded by itself.
 */
public final class SkippedTestsListener implements TestExecutionListener {

    private final Map<String, List<String>> testsByReason = new TreeMap<>();

    private @Nullable TestPlan plan;

    @Override
    public synchronized void testPlanExecutionStarted(TestPlan testPlan) {
        this.plan = testPlan;
        this.testsByReason.clear();
    }

    @Override
    public void executionSkipped(TestIdentifier identifier, String reason) {
        record(identifier, reason);
    }

    @Override
    public void executionFinished(TestIdentifier identifier, TestExecutionResult result) {
        if (result.getStatus() == Status.ABORTED) {
            record(identifier, result.getThrowable().map(Throwable::getMessage).orElse("no reason given"));
        }
    }

    @Override
    public synchronized void testPlanExecutionFinished(TestPlan testPlan) {
        if (this.testsByReason.isEmpty()) {
            return;
        }
        StringBuilder text = new StringBuilder("Skipped:\n");
        this.testsByReason.forEach((reason, tests) -> {
            text.append("  ").append(reason).append('\n');
            tests.forEach((test) -> text.append("    ").append(test).append('\n'));
        });
        System.out.print(text);
    }

    private synchronized void record(TestIdentifier identifier, String reason) {
        List<String> names = new ArrayList<>();
        TestIdentifier current = identifier;
        while (current != null && current.getParentId().isPresent()) {
            names.add(0, current.getDisplayName());
            current = (this.plan != null) ? this.plan.getParent(current).orElse(null) : null;
        }
        this.testsByReason.computeIfAbsent(reason.strip(), (key) -> new ArrayList<>()).add(String.join(" > ", names));
    }

}

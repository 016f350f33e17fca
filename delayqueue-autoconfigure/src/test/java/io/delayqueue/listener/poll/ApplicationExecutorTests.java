package io.delayqueue.listener.poll;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Tests P3: a rejected handler is reported; otherwise its queue would wait for it. */
class ApplicationExecutorTests {

    private final List<String> ran = new ArrayList<>();

    @Test
    void anExecutorThatRunsTasksInItsCallerIsRejected() {
        assertRejected(Runnable::run);
    }

    @Test
    void anExecutorThatRunsTasksInItsCallerIsRejectedThoughItCatchesTheException() {
        assertRejected((task) -> {
            try {
                task.run();
            }
            catch (RuntimeException ex) {
                this.ran.add("caught");
            }
        });
        assertThat(this.ran).containsExactly("caught");
    }

    @Test
    void anExecutorThatRunsTasksLaterIsNotRejected() {
        List<Runnable> tasks = new ArrayList<>();
        new ApplicationExecutor(tasks::add).execute(() -> this.ran.add("task"));
        tasks.forEach(Runnable::run);
        assertThat(this.ran).containsExactly("task");
    }

    private void assertRejected(Executor executor) {
        ApplicationExecutor application = new ApplicationExecutor(executor);
        assertThatExceptionOfType(RejectedExecutionException.class)
            .isThrownBy(() -> application.execute(() -> this.ran.add("task")))
            .withMessageContaining("calling thread");
        assertThat(this.ran).doesNotContain("task");
    }

}

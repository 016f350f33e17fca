package io.delayqueue.listener;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import io.delayqueue.listener.poll.HandlerExecutor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Tests the threads of handlers, and executors of the application. */
class HandlerExecutorTests {

    private final List<String> ran = new ArrayList<>();

    @Test
    void inheritNothingFromTheThreadThatCreatedThem() throws Exception {
        HandlerExecutor threads = new HandlerExecutor(false, false, null);
        InheritableThreadLocal<String> user = new InheritableThreadLocal<>();
        CompletableFuture<ClassLoader> loader = new CompletableFuture<>();
        CompletableFuture<String> inherited = new CompletableFuture<>();
        Thread foreign = new Thread(() -> {
            user.set("somebody");
            threads.execute(() -> {
                loader.complete(Thread.currentThread().getContextClassLoader());
                inherited.complete(String.valueOf(user.get()));
            });
        });
        foreign.setContextClassLoader(ClassLoader.getPlatformClassLoader());
        foreign.start();
        foreign.join();
        assertThat(loader.get()).isEqualTo(getClass().getClassLoader());
        assertThat(inherited.get()).isEqualTo("null");
        threads.close();
    }

    @Test
    void makeBlockingCallsOnThreadsOfTheirOwnWhereCallsWait() throws Exception {
        HandlerExecutor threads = new HandlerExecutor(false, true, null);
        CompletableFuture<String> name = new CompletableFuture<>();
        threads.runStoreTask(() -> name.complete(Thread.currentThread().getName()));
        assertThat(name.get(30, TimeUnit.SECONDS)).startsWith("delayqueue-loop-");
        threads.close();

        Thread[] here = new Thread[1];
        new HandlerExecutor(false, false, null).runStoreTask(() -> here[0] = Thread.currentThread());
        assertThat(here[0]).isEqualTo(Thread.currentThread());
    }

    @Test
    void areNamedAndDoNotKeepTheJvmUp() throws Exception {
        HandlerExecutor threads = new HandlerExecutor(false, false, null);
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        threads.execute(() -> thread.complete(Thread.currentThread()));

        assertThat(thread.get(30, TimeUnit.SECONDS).getName()).startsWith("delayqueue-handler-");
        assertThat(thread.get().isDaemon()).isTrue();
        threads.close();
    }

    @Test
    void haveNoBoundOfTheirOwn() throws Exception {
        HandlerExecutor threads = new HandlerExecutor(false, false, null);
        CountDownLatch all = new CountDownLatch(50);
        for (int i = 0; i < 50; i++) {
            threads.execute(() -> {
                all.countDown();
                try {
                    all.await(30, TimeUnit.SECONDS);
                }
                catch (InterruptedException ex) {
                    Thread.currentThread().interrupt();
                }
            });
        }
        assertThat(all.await(30, TimeUnit.SECONDS)).isTrue();
        threads.close();
    }

    @Test
    @EnabledForJreRange(max = JRE.JAVA_20)
    void refuseToBeVirtualWhereThatIsUnknown() {
        assertThatExceptionOfType(UnsupportedOperationException.class)
            .isThrownBy(() -> new HandlerExecutor(true, false, null));
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void areVirtualIfAsked() throws Exception {
        CompletableFuture<String> thread = new CompletableFuture<>();
        new HandlerExecutor(true, false, null).execute(() -> thread.complete(Thread.currentThread().toString()));
        assertThat(thread.get(30, TimeUnit.SECONDS)).startsWith("VirtualThread").contains("delayqueue-handler-");
    }

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
        new HandlerExecutor(false, false, tasks::add).execute(() -> this.ran.add("task"));
        tasks.forEach(Runnable::run);
        assertThat(this.ran).containsExactly("task");
    }

    private void assertRejected(Executor executor) {
        HandlerExecutor application = new HandlerExecutor(false, false, executor);
        assertThatExceptionOfType(RejectedExecutionException.class)
            .isThrownBy(() -> application.execute(() -> this.ran.add("task")))
            .withMessageContaining("calling thread");
        assertThat(this.ran).doesNotContain("task");
    }

}

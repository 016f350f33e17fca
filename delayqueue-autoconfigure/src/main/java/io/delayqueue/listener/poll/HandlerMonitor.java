package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.LongSupplier;

import io.delayqueue.admin.HandlerStacks.HandlerStack;
import io.delayqueue.admin.NodeStatus.RunningHandler;
import io.delayqueue.admin.NodeStatus.RunningHandlers;

/**
 * Describes the running handlers of this process to operators. Costs handlers nothing: it
 * reads what a stop of the process needs as well.
 * <p>
 * <strong>Threads.</strong> Any.
 */
public final class HandlerMonitor {

    /** Maximum number of handlers to describe. */
    private static final int MAX_HANDLERS = 20;

    /** Maximum number of frames of a handler, from the innermost one. */
    private static final int MAX_FRAMES = 40;

    /** Calls handlers, so the frames within its own are those of the handler. */
    private static final String CALLER = DeliveryProcessor.class.getName();

    /** Prefixes of the classes between that one and the handler's method. */
    private static final List<String> INVOCATION = List.of("io.delayqueue.listener.", "io.delayqueue.observation.",
            "java.lang.reflect.", "jdk.internal.reflect.");

    private static final Comparator<HandlerCall> LONGEST_LAST = (one, other) -> Long
        .compare(other.startedAt() - one.startedAt(), 0);

    private final HandlerExecutor executor;

    private final LongSupplier nanoTime;

    private final Duration overdueAfter;

    /**
     * Creates a monitor.
     * @param overdueAfter duration after which a handler without a timeout is overdue
     */
    public HandlerMonitor(HandlerExecutor executor, LongSupplier nanoTime, Duration overdueAfter) {
        this.executor = executor;
        this.nanoTime = nanoTime;
        this.overdueAfter = overdueAfter;
    }

    /**
     * Runs a task that may take some milliseconds, on a thread of its own: if all
     * handlers hang, an executor of the application may have none left.
     */
    public void execute(Runnable task) {
        Thread thread = new Thread(null, task, "delayqueue-stacks", 0, false);
        thread.setDaemon(true);
        thread.start();
    }

    /** Writes a log line without blocking the caller, even if an appender blocks. */
    public void log(Runnable line) {
        this.executor.log(line);
    }

    /** Counts the running handlers, and describes those that run longest. */
    public RunningHandlers running() {
        long now = this.nanoTime.getAsLong();
        int total = 0;
        int overdue = 0;
        PriorityQueue<HandlerCall> longest = new PriorityQueue<>(LONGEST_LAST);
        for (HandlerCall handler : this.executor.running()) {
            total++;
            overdue += isOverdue(handler, now) ? 1 : 0;
            add(longest, handler);
        }
        return new RunningHandlers(total, overdue,
                inOrder(longest).stream().map((handler) -> describe(handler, now)).toList());
    }

    /** Keeps those that run longest; the head is the one that began last. */
    private static void add(PriorityQueue<HandlerCall> longest, HandlerCall handler) {
        longest.add(handler);
        if (longest.size() > MAX_HANDLERS) {
            longest.remove();
        }
    }

    private static List<HandlerCall> inOrder(PriorityQueue<HandlerCall> longest) {
        List<HandlerCall> handlers = new ArrayList<>(longest);
        handlers.sort(LONGEST_LAST.reversed());
        return handlers;
    }

    private boolean isOverdue(HandlerCall handler, long now) {
        Duration timeout = handler.binding().settings().timeout();
        return now - handler.startedAt() >= Nanos.of((timeout != null) ? timeout : this.overdueAfter);
    }

    private RunningHandler describe(HandlerCall handler, long now) {
        InFlightMessage first = handler.messages().get(0);
        return new RunningHandler(handler.binding().listenerId(), handler.binding().queue().value(), first.lease().id(),
                handler.messages().size(), first.attempt(), Duration.ofNanos(now - handler.startedAt()),
                isOverdue(handler, now));
    }

    /**
     * Takes the stacks of the overdue handlers that run longest. Stacks of other threads
     * are never taken.
     */
    public List<HandlerStack> overdueStacks() {
        long now = this.nanoTime.getAsLong();
        PriorityQueue<HandlerCall> longest = new PriorityQueue<>(LONGEST_LAST);
        this.executor.running().stream().filter((each) -> isOverdue(each, now)).forEach((each) -> add(longest, each));
        return inOrder(longest).stream()
            .map((handler) -> new HandlerStack(describe(handler, now), frames(handler.stack())))
            .toList();
    }

    /** Leaves out the frames of the code that calls the handler's method. */
    private static List<String> frames(StackTraceElement[] stack) {
        List<StackTraceElement> frames = Arrays.stream(stack)
            .takeWhile((frame) -> !frame.getClassName().equals(CALLER))
            .toList();
        int end = frames.size();
        while (end > 0 && INVOCATION.stream().anyMatch(frames.get(end - 1).getClassName()::startsWith)) {
            end--;
        }
        return frames.stream().limit(Math.min(end, MAX_FRAMES)).map(HandlerMonitor::describe).toList();
    }

    /** Describes a frame without the names of its class loader and module. */
    private static String describe(StackTraceElement frame) {
        String place = frame.isNativeMethod() ? "Native Method" : (frame.getFileName() == null) ? "Unknown Source"
                : (frame.getLineNumber() < 0) ? frame.getFileName() : frame.getFileName() + ":" + frame.getLineNumber();
        return "%s.%s(%s)".formatted(frame.getClassName(), frame.getMethodName(), place);
    }

}

package io.delayqueue.listener.handler;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

import kotlin.Unit;
import kotlin.coroutines.Continuation;
import kotlin.coroutines.CoroutineContext;
import kotlinx.coroutines.BuildersKt;
import kotlinx.coroutines.CoroutineStart;
import kotlinx.coroutines.ExecutorsKt;
import kotlinx.coroutines.GlobalScope;
import kotlinx.coroutines.Job;
import org.jspecify.annotations.Nullable;

import org.springframework.core.PropagationContextElement;
import org.springframework.util.ClassUtils;

/**
 * Completes when a coroutine and all its children have ended, which may be some time
 * after its cancellation. Loaded only for suspend functions and jobs.
 */
final class CoroutineStage extends CompletableFuture<@Nullable Object> implements CancellableStage {

    private static final boolean propagatesContext = ClassUtils.isPresent("io.micrometer.context.ContextSnapshot",
            CoroutineStage.class.getClassLoader());

    private final Job job;

    private CoroutineStage(Job job) {
        this.job = job;
    }

    /** Returns the end of a coroutine that was started before. */
    static CoroutineStage of(Job job) {
        CoroutineStage stage = new CoroutineStage(job);
        job.invokeOnCompletion((cause) -> {
            if (cause != null) {
                stage.completeExceptionally(cause);
            }
            else {
                stage.complete(null);
            }
            return Unit.INSTANCE;
        });
        return stage;
    }

    /**
     * Calls a suspend function as a coroutine, which begins on the calling thread.
     * @param continuations runs the coroutine whenever it resumes
     */
    static CoroutineStage start(SuspendFunction function, Executor continuations) {
        CoroutineContext context = ExecutorsKt.from(continuations);
        if (propagatesContext) {
            // Thread-locals of tracing, as they are on the calling thread now.
            context = context.plus(new PropagationContextElement());
        }
        return of(BuildersKt.async(GlobalScope.INSTANCE, context, CoroutineStart.UNDISPATCHED,
                (scope, continuation) -> call(function, continuation)));
    }

    private static @Nullable Object call(SuspendFunction function, Continuation<? super Object> continuation) {
        try {
            return function.call(continuation);
        }
        catch (Throwable ex) {
            throw CoroutineStage.<RuntimeException>unchecked(ex);
        }
    }

    /** Returns the exception of the function as it is; Kotlin has no checked ones. */
    @SuppressWarnings("unchecked")
    private static <X extends Throwable> X unchecked(Throwable failure) throws X {
        throw (X) failure;
    }

    @Override
    public void requestCancellation() {
        this.job.cancel(new CancellationException("The handler was cancelled"));
    }

    /** Calls a suspend function. */
    @FunctionalInterface
    interface SuspendFunction {

        /**
         * Calls the function.
         * @return its result, or the marker of a suspended function
         */
        @Nullable Object call(Continuation<? super Object> continuation) throws Throwable;

    }

}

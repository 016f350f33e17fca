package io.delayqueue.web.http;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/** Reports a failed request to its caller, as the problem that it holds. */
public final class ProblemException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient Problem problem;

    public ProblemException(Problem problem) {
        this(problem, null);
    }

    public ProblemException(Problem problem, @Nullable Throwable cause) {
        super(problem.detail(), cause, false, cause != null);
        this.problem = problem;
    }

    public static ProblemException invalid(String detail) {
        return new ProblemException(new Problem(Problem.Kind.INVALID, detail));
    }

    /**
     * Runs a check of a caller's value, and translates its rejection.
     * @param check throws an {@code IllegalArgumentException} that names value and rule
     */
    public static <T> T valid(Supplier<T> check) {
        try {
            return check.get();
        }
        catch (IllegalArgumentException ex) {
            throw invalid(String.valueOf(ex.getMessage()));
        }
    }

    public Problem problem() {
        return this.problem;
    }

}

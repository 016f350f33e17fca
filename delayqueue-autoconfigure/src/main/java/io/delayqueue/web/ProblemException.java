package io.delayqueue.web;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/** Ends a request with a problem. */
final class ProblemException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient Problem problem;

    ProblemException(Problem problem) {
        this(problem, null);
    }

    ProblemException(Problem problem, @Nullable Throwable cause) {
        super(problem.detail(), cause, false, cause != null);
        this.problem = problem;
    }

    static ProblemException invalid(String detail) {
        return new ProblemException(new Problem(Problem.Kind.INVALID, detail));
    }

    /**
     * Has something that a caller gave checked by what knows the rule for it.
     * @param check throws an {@code IllegalArgumentException} that names value and rule
     */
    static <T> T valid(Supplier<T> check) {
        try {
            return check.get();
        }
        catch (IllegalArgumentException ex) {
            throw invalid(String.valueOf(ex.getMessage()));
        }
    }

    Problem problem() {
        return this.problem;
    }

}

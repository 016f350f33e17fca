package io.delayqueue.web;

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

    Problem problem() {
        return this.problem;
    }

}

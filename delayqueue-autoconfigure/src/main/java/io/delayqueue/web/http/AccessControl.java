package io.delayqueue.web.http;

import java.util.Set;
import java.util.stream.Collectors;

import jakarta.servlet.http.HttpServletRequest;

/**
 * Who calls, and what that one may do. Asked on the thread of the request, and before it
 * waits for anything.
 */
public interface AccessControl {

    /** Whether the caller may do it. */
    boolean permits(HttpServletRequest request, Authority authority);

    /** Why not, for the caller. */
    default String refusal(Set<Authority> needed) {
        return "It needs " + needed.stream().map(Authority::text).sorted().collect(Collectors.joining(" or "));
    }

    /** The name of the caller, for the audit. */
    String who(HttpServletRequest request);

}

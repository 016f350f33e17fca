package io.delayqueue.web.http;

import java.util.Set;
import java.util.stream.Collectors;

import jakarta.servlet.http.HttpServletRequest;

/**
 * Identifies callers and decides what they may do. Called on the request thread, before
 * the request waits for anything.
 */
public interface AccessControl {

    /** Returns whether the caller has the authority. */
    boolean permits(HttpServletRequest request, Authority authority);

    /** Returns why the request was denied, in words for the caller. */
    default String denialReason(Set<Authority> needed) {
        return "The caller needs the authority "
                + needed.stream().map(Authority::text).sorted().collect(Collectors.joining(" or "));
    }

    /** Returns the name of the caller, for the audit. */
    String principal(HttpServletRequest request);

}

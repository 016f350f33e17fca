package io.delayqueue.web;

import jakarta.servlet.http.HttpServletRequest;

/**
 * Who calls, and what that one may do. Asked on the thread of the request, and before it
 * waits for anything.
 */
public interface Access {

    /** Whether the caller may do it. */
    boolean permits(HttpServletRequest request, Authority authority);

    /** The name of the caller, for the audit. */
    String who(HttpServletRequest request);

}

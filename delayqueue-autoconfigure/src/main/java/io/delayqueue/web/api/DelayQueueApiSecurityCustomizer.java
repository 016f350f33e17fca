package io.delayqueue.web.api;

import io.delayqueue.web.http.Authority;

import org.springframework.security.config.annotation.web.builders.HttpSecurity;

/**
 * Says how callers of the API authenticate, in place of HTTP Basic: a bean of this type
 * is given the filter chain of the API before it is built. Who may do what stays with the
 * authorities; see {@link Authority}.
 */
@FunctionalInterface
public interface DelayQueueApiSecurityCustomizer {

    /** Adds to the chain, for instance {@code oauth2ResourceServer}. */
    void customize(HttpSecurity http);

}

package io.delayqueue.web;

import org.springframework.security.config.annotation.web.builders.HttpSecurity;

/**
 * Says how callers of the API authenticate, in place of HTTP Basic: a bean of this type
 * is given the filter chain of the API before it is built. Who may do what stays with the
 * authorities; see {@link Authority}.
 */
@FunctionalInterface
public interface SecurityCustomizer {

    /** Adds to the chain, for instance {@code oauth2ResourceServer}. */
    void customize(HttpSecurity http);

}

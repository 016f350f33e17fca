package io.delayqueue.web.dashboard;

import io.delayqueue.web.http.Authority;

import org.springframework.security.config.annotation.web.builders.HttpSecurity;

/**
 * Says how users of the dashboard log in, in place of HTTP Basic: a bean of this type is
 * given the filter chain of the dashboard before it is built. Who may do what stays with
 * the authorities; see {@link Authority}.
 */
@FunctionalInterface
public interface DelayQueueDashboardSecurityCustomizer {

    /** Adds to the chain, for instance an entry point that leads to the login page. */
    void customize(HttpSecurity http);

}

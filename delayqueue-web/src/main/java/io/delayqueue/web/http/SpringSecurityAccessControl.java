package io.delayqueue.web.http;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;

/**
 * Checks the authorities that Spring Security granted. Runs on every request in addition
 * to the filter chain, so that a replaced chain, or one that matches too little, exposes
 * nothing.
 */
public final class SpringSecurityAccessControl implements AccessControl {

    @Override
    public boolean permits(HttpServletRequest request, Authority authority) {
        Authentication caller = caller();
        return caller != null && caller.getAuthorities()
            .stream()
            .anyMatch((granted) -> authority.text().equals(granted.getAuthority()));
    }

    @Override
    public String principal(HttpServletRequest request) {
        Authentication caller = caller();
        return (caller != null) ? caller.getName() : "nobody";
    }

    private static @Nullable Authentication caller() {
        Authentication caller = SecurityContextHolder.getContext().getAuthentication();
        return (caller != null && caller.isAuthenticated() && !(caller instanceof AnonymousAuthenticationToken))
                ? caller : null;
    }

}

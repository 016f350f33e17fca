package io.delayqueue.web.http;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;

/**
 * Goes by the authorities that Spring Security has found. Asked for every request besides
 * the filter chain, so that a chain that was replaced, or matches less than it should,
 * opens nothing.
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
    public String who(HttpServletRequest request) {
        Authentication caller = caller();
        return (caller != null) ? caller.getName() : "nobody";
    }

    private static @Nullable Authentication caller() {
        Authentication caller = SecurityContextHolder.getContext().getAuthentication();
        return (caller != null && caller.isAuthenticated() && !(caller instanceof AnonymousAuthenticationToken))
                ? caller : null;
    }

}

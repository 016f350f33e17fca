package io.delayqueue.web.http;

import java.net.URI;
import java.util.Locale;
import java.util.Set;

import jakarta.servlet.http.HttpServletRequest;

/**
 * Tells pages of other sites that have a browser send its user's credentials. A browser
 * says itself whether a request comes from another site, whatever stands between it and
 * this process; an older one names the origin, which is compared with what the request
 * asks for. Who sends neither is no browser.
 */
final class CrossSiteGuard {

    private static final Set<String> READING = Set.of("GET", "HEAD", "OPTIONS");

    private static final Set<String> OWN = Set.of("same-origin", "none");

    private CrossSiteGuard() {
    }

    static boolean permits(HttpServletRequest request) {
        if (READING.contains(request.getMethod())) {
            return true;
        }
        String site = request.getHeader("Sec-Fetch-Site");
        if (site != null) {
            return OWN.contains(site.toLowerCase(Locale.ROOT));
        }
        String origin = request.getHeader("Origin");
        return origin == null || isOwn(origin, request);
    }

    private static boolean isOwn(String origin, HttpServletRequest request) {
        try {
            String authority = URI.create(origin).getAuthority();
            String host = request.getHeader("Host");
            String name = request.getServerName();
            int port = request.getServerPort();
            return authority != null
                    && (authority.equalsIgnoreCase(host) || authority.equalsIgnoreCase(name + ":" + port)
                            || (authority.equalsIgnoreCase(name) && (port == 80 || port == 443)));
        }
        catch (IllegalArgumentException ex) {
            return false;
        }
    }

}

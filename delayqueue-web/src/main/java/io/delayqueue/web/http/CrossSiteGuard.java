package io.delayqueue.web.http;

import java.net.URI;
import java.util.Locale;
import java.util.Set;

import jakarta.servlet.http.HttpServletRequest;

/**
 * Detects requests of another site's page that would change something with the user's
 * credentials, by the headers {@code Sec-Fetch-Site} and {@code Origin}. Modern browsers
 * mark cross-site requests, which works behind any proxy. Older ones send the origin,
 * which is compared with the request's host. A client that sends neither is not a
 * browser.
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

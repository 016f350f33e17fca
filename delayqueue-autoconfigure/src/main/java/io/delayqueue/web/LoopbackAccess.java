package io.delayqueue.web;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Set;

import jakarta.servlet.http.HttpServletRequest;

/**
 * Lets everybody on this machine do everything, and nobody else anything. A page on the
 * web that has its name resolve to this machine is told from the machine itself by the
 * host that it asks for, and a proxy on this machine by what it adds.
 */
public final class LoopbackAccess implements Access {

    private static final Set<String> NAMES = Set.of("localhost", "127.0.0.1", "[::1]", "::1", "[0:0:0:0:0:0:0:1]");

    private static final Set<String> PROXIED = Set.of("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP");

    @Override
    public boolean permits(HttpServletRequest request, Authority authority) {
        return isLoopback(request.getRemoteAddr()) && NAMES.contains(request.getServerName())
                && PROXIED.stream().allMatch((header) -> request.getHeader(header) == null);
    }

    @Override
    public String who(HttpServletRequest request) {
        return "insecure-local";
    }

    private static boolean isLoopback(String address) {
        try {
            // An address and not a name, so nothing is resolved.
            return InetAddress.getByName(address).isLoopbackAddress();
        }
        catch (UnknownHostException ex) {
            return false;
        }
    }

}

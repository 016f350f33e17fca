package io.delayqueue.web.http;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicReference;

import io.delayqueue.web.consume.ApiServer;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.filter.ForwardedHeaderFilter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that the API is open to this machine, on a real server, but not to others
 * through it.
 */
@Tag("server")
class InsecureLocalTests {

    private static ApiServer server;

    @BeforeAll
    static void start() {
        server = ApiServer.start("delayqueue.web.insecure-local=true");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void permitsEverythingToLoopbackCallers() {
        String messages = ApiServer.PATH + "/queues/local/messages";
        assertThat(server.call(null, "POST", messages, "{\"payload\": 1}").status()).isEqualTo(201);
        assertThat(server.call(null, "GET", messages, null).status()).isEqualTo(200);
        assertThat(server.audited()).extracting("principal").containsOnly("insecure-local");
    }

    @Test
    void permitsNothingToCallersThroughAProxy() {
        for (String header : new String[] { "X-Forwarded-For", "Forwarded", "X-Real-IP", "X-Forwarded-Host",
                "X-Forwarded-Proto", "x-forwarded-port", "X-Forwarded-Prefix", "Via" }) {
            assertThat(server
                .send("GET", ApiServer.PATH + "/queues", null, (request) -> request.header(header, "127.0.0.1"))
                .problem()).as(header).isEqualTo("forbidden");
        }
    }

    /** Hidden by Spring's own filter. */
    @Test
    void seesProxyHeadersThatAFilterHides() throws Exception {
        MockHttpServletRequest request = new MockHttpServletRequest("GET", "/");
        request.addHeader("X-Forwarded-Proto", "https");
        AtomicReference<ServletRequest> passed = new AtomicReference<>();
        new ForwardedHeaderFilter().doFilter(request, new MockHttpServletResponse(),
                (came, answer) -> passed.set(came));
        HttpServletRequest seen = (HttpServletRequest) passed.get();

        assertThat(seen.getHeader("X-Forwarded-Proto")).isNull();
        assertThat(new LoopbackAccessControl().permits(seen, Authority.VIEW)).isFalse();
        assertThat(new LoopbackAccessControl().permits(new MockHttpServletRequest("GET", "/"), Authority.VIEW))
            .isTrue();
    }

    /** A page may resolve its own name to this machine: its requests still name it. */
    @Test
    void permitsNothingForAnotherHostName() throws IOException {
        assertThat(statusFor("evil.example")).contains(" 403");
        assertThat(statusFor("127.0.0.1.evil.example")).contains(" 403");
        assertThat(statusFor("localhost")).contains(" 200");
        assertThat(statusFor("127.0.0.1:" + server.port())).contains(" 200");
    }

    private static String statusFor(String host) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.getOutputStream()
                .write("GET %s/queues HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n".formatted(ApiServer.PATH, host)
                    .getBytes(StandardCharsets.US_ASCII));
            return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
                .readLine();
        }
    }

}

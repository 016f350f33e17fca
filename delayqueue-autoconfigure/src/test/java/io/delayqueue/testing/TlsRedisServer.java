package io.delayqueue.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Assumptions;

/**
 * A Redis server that speaks TLS on a port of its own, beside the plain one of the
 * fixtures. Its certificate is made when it starts, by the JDK's keytool, and signs
 * itself. Threads: safe.
 */
public final class TlsRedisServer implements AutoCloseable {

    private static final String PASSWORD = "changeit";

    private static final String PEM = "-----BEGIN %1$s-----\n%2$s\n-----END %1$s-----\n";

    private final RedisServer server;

    private final int port;

    private final Path certificate;

    private TlsRedisServer(RedisServer server, int port, Path certificate) {
        this.server = server;
        this.port = port;
        this.certificate = certificate;
    }

    /** Starts one, or skips the test and says why no binary can. */
    public static TlsRedisServer start() {
        Path certificate = certificate();
        List<String> problems = new ArrayList<>();
        for (RedisBinary binary : Stream.of(RedisBinary.GIVEN, RedisBinary.REDIS_7_0, RedisBinary.REDIS_6_2)
            .filter(RedisBinary::isAvailable)
            .toList()) {
            int port = FreePorts.next();
            try {
                RedisServer server = RedisServer.start(binary, "tls-port " + port, "tls-cert-file " + certificate,
                        "tls-key-file " + certificate.resolveSibling("key.pem"), "tls-ca-cert-file " + certificate,
                        "tls-auth-clients no");
                return new TlsRedisServer(server, port, certificate);
            }
            catch (IllegalStateException ex) {
                problems.add(binary + " " + binary.version());
            }
        }
        return Assumptions.abort("No Redis here is built with TLS: " + problems);
    }

    /** A new certificate for this host, that signs itself; its key lies beside it. */
    public static Path certificate() {
        try {
            Path directory = TestDirectories.create("tls");
            Path store = directory.resolve("store.p12");
            Process keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                    "-genkeypair", "-alias", "redis", "-keyalg", "EC", "-dname", "CN=" + directory.getFileName(),
                    "-ext", "SAN=IP:127.0.0.1,DNS:localhost", "-validity", "2", "-storetype", "PKCS12", "-keystore",
                    store.toString(), "-storepass", PASSWORD)
                .redirectErrorStream(true)
                .start();
            String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (keytool.waitFor() != 0) {
                throw new IllegalStateException("keytool failed: " + said);
            }
            KeyStore keys = KeyStore.getInstance("PKCS12");
            try (InputStream in = Files.newInputStream(store)) {
                keys.load(in, PASSWORD.toCharArray());
            }
            write(directory.resolve("key.pem"), "PRIVATE KEY",
                    keys.getKey("redis", PASSWORD.toCharArray()).getEncoded());
            return write(directory.resolve("certificate.pem"), "CERTIFICATE",
                    keys.getCertificate("redis").getEncoded());
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        catch (GeneralSecurityException ex) {
            throw new IllegalStateException(ex);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted", ex);
        }
    }

    private static Path write(Path file, String kind, byte[] content) throws IOException {
        return Files.writeString(file,
                PEM.formatted(kind, Base64.getMimeEncoder(64, new byte[] { '\n' }).encodeToString(content)));
    }

    /** The same server, without TLS. */
    public RedisServer plain() {
        return this.server;
    }

    /** Where it speaks TLS. */
    public int port() {
        return this.port;
    }

    /** What a client has to trust. */
    public Path trusted() {
        return this.certificate;
    }

    @Override
    public void close() {
        this.server.close();
    }

}

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

/**
 * Answers the two calls of the publishing plugin on the loopback interface, as Maven Central does: it takes an upload,
 * and reports it as validated. Writes its port to the file that it is given, and ends when that file is deleted.
 */
class Portal {

    public static void main(String[] args) throws Exception {
        Path port = Path.of(args[0]);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/api/v1/publisher/upload", (exchange) -> answer(exchange, 201, "trial"));
        server.createContext("/api/v1/publisher/status", (exchange) -> answer(exchange, 200, """
                {"deploymentId": "trial", "deploymentName": "trial", "deploymentState": "VALIDATED", "purls": []}"""));
        server.start();
        Files.writeString(port, Integer.toString(server.getAddress().getPort()));
        while (Files.exists(port)) {
            Thread.sleep(200);
        }
        server.stop(0);
    }

    private static void answer(HttpExchange exchange, int status, String body) throws IOException {
        exchange.getRequestBody().transferTo(java.io.OutputStream.nullOutputStream());
        exchange.getResponseHeaders().set("Content-Type", body.startsWith("{") ? "application/json" : "text/plain");
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

}

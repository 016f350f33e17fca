package io.delayqueue.depot;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

import javax.security.auth.login.AccountNotFoundException;

import io.delayqueue.fixtures.redis.TestDirectories;
import org.apache.qpid.server.SystemLauncher;
import org.apache.qpid.server.SystemLauncherListener;
import org.apache.qpid.server.model.Broker;
import org.apache.qpid.server.model.PasswordCredentialManagingAuthenticationProvider;
import org.apache.qpid.server.model.SystemConfig;

/** Runs Qpid in this JVM, with virtual host {@code default} and user {@code guest}. */
final class QpidServer implements AmqpServer {

    private static final String CONFIGURATION = """
            {
              "name": "broker",
              "modelVersion": "9.1",
              "authenticationproviders": [{
                "name": "plain", "type": "Plain", "secureOnlyMechanisms": [],
                "users": [{ "name": "guest", "type": "managed", "password": "guest" }]
              }],
              "ports": [{
                "name": "AMQP", "port": "%d", "bindingAddress": "127.0.0.1", "protocols": ["AMQP_0_9_1"],
                "authenticationProvider": "plain",
                "virtualhostaliases": [
                  { "name": "nameAlias", "type": "nameAlias" },
                  { "name": "defaultAlias", "type": "defaultAlias" },
                  { "name": "hostnameAlias", "type": "hostnameAlias" }
                ]
              }],
              "virtualhostnodes": [{
                "name": "default", "type": "Memory", "defaultVirtualHostNode": "true",
                "virtualHostInitialConfiguration": "{ \\"type\\": \\"Memory\\" }"
              }]
            }
            """;

    private final PasswordCredentialManagingAuthenticationProvider<?> users;

    QpidServer(int port) {
        AtomicReference<SystemConfig<?>> system = new AtomicReference<>();
        Path directory = TestDirectories.create("qpid");
        try {
            Path configuration = Files.writeString(directory.resolve("broker.json"), CONFIGURATION.formatted(port));
            new SystemLauncher(new SystemLauncherListener.DefaultSystemLauncherListener() {
                @Override
                public void onContainerResolve(SystemConfig<?> resolved) {
                    system.set(resolved);
                }
            }).startup(Map.of("type", "Memory", "initialConfigurationLocation", configuration.toString(),
                    "startupLoggedToSystemOut", "false", "context", Map.of("qpid.work_dir", directory.toString())));
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        catch (Exception ex) {
            throw new IllegalStateException(ex);
        }
        this.users = (PasswordCredentialManagingAuthenticationProvider<?>) ((Broker<?>) system.get().getContainer())
            .getAuthenticationProviders()
            .iterator()
            .next();
    }

    @Override
    public String virtualHost() {
        return "default";
    }

    @Override
    public void addUser(String name, String password) {
        this.users.createUser(name, password, Map.of());
    }

    @Override
    public void changePassword(String name, String password) {
        try {
            this.users.setPassword(name, password);
        }
        catch (AccountNotFoundException ex) {
            throw new IllegalStateException(ex);
        }
    }

}

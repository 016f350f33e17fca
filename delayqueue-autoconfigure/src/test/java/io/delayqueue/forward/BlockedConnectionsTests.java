package io.delayqueue.forward;

import java.io.IOException;

import com.rabbitmq.client.BlockedListener;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.ArgumentCaptor;

import org.springframework.amqp.rabbit.connection.Connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.mock;

/** Tests when nothing is published to RabbitMQ, as it has blocked a connection. */
class BlockedConnectionsTests {

    private final BlockedConnections connections = new BlockedConnections();

    private final com.rabbitmq.client.Connection client = mock(com.rabbitmq.client.Connection.class);

    private final ArgumentCaptor<BlockedListener> listener = ArgumentCaptor.forClass(BlockedListener.class);

    @BeforeEach
    void open() {
        Connection connection = mock(Connection.class);
        given(connection.getDelegate()).willReturn(this.client);
        given(this.client.isOpen()).willReturn(true);
        this.connections.onCreate(connection);
        then(this.client).should().addBlockedListener(this.listener.capture());
    }

    @Test
    void aConnectionIsBlockedUntilItIsUnblocked() throws IOException {
        assertThat(this.connections.reason()).isNull();

        this.listener.getValue().handleBlocked("low on memory");
        assertThat(this.connections.reason()).isEqualTo("low on memory");

        this.listener.getValue().handleUnblocked();
        assertThat(this.connections.reason()).isNull();
    }

    /** A new connection would otherwise never be opened. */
    @Test
    void aConnectionThatIsLostDoesNotStayBlocked() throws IOException {
        this.listener.getValue().handleBlocked("low on memory");
        given(this.client.isOpen()).willReturn(false);

        assertThat(this.connections.reason()).isNull();
    }

}

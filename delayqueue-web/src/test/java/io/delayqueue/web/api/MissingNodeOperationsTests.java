package io.delayqueue.web.api;

import java.time.Instant;
import java.util.List;

import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.NodeStatus;
import io.delayqueue.admin.NodeStatus.RunningHandlers;
import io.delayqueue.web.http.ApiRequest;
import io.delayqueue.web.http.ApiRoute;
import io.delayqueue.web.http.ProblemException;
import io.delayqueue.web.http.RouteTable;
import org.junit.jupiter.api.Test;

import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.web.servlet.function.ServerResponse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Tests the routes of nodes in an application that cannot change nodes. */
class MissingNodeOperationsTests {

    private final RouteTable routes = new RouteTable("");

    private final ApiRequest request = mock();

    private ServerResponse call(HttpMethod method, String path) {
        DelayQueueInspector inspector = mock();
        given(inspector.nodes()).willReturn(List.of(new NodeStatus("n", "shop", "host", 1, null, Instant.EPOCH,
                Instant.EPOCH, List.of(), RunningHandlers.NONE, List.of())));
        given(this.request.node()).willReturn("n");
        new NodeRoutes(inspector, null, mock()).addTo(this.routes);
        ApiRoute route = this.routes.all()
            .stream()
            .filter((one) -> one.method().equals(method) && one.pattern().getPatternString().equals(path))
            .findFirst()
            .orElseThrow();
        return route.handler().handle(this.request);
    }

    @Test
    void aNodeIsShown() {
        assertThat(call(HttpMethod.GET, "/nodes/{node}").statusCode()).isEqualTo(HttpStatus.OK);
    }

    @Test
    void aChangeOfANodeSaysWhyItIsNotPossible() {
        assertThatExceptionOfType(ProblemException.class).isThrownBy(() -> call(HttpMethod.GET, "/nodes/{node}/stacks"))
            .withMessageContaining("no bean of type NodeOperations");
    }

}

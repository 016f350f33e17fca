package io.delayqueue.sample;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.delayqueue.DelayQueueException;

import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.http.MediaType;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * Streams what happens as Server-Sent Events: each {@link ShopEvent}, those remembered
 * first, and between them, for those who ask, the {@link PageState}.
 * <p>
 * <strong>Threads.</strong> Only the scheduler's thread sends, so that no handler of a
 * message ever waits for a browser.
 */
@RestController
class EventStream {

    private static final long NO_TIMEOUT = 0;

    private final List<Client> clients = new CopyOnWriteArrayList<>();

    private final EventLog events;

    private final PageStateReader pageState;

    EventStream(EventLog events, PageStateReader pageState) {
        this.events = events;
        this.pageState = pageState;
    }

    @GetMapping(path = "/events", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    SseEmitter connect(@RequestParam(defaultValue = "false") boolean state) {
        Client client = new Client(new SseEmitter(NO_TIMEOUT), state);
        client.emitter.onCompletion(() -> this.clients.remove(client));
        this.clients.add(client);
        return client.emitter;
    }

    @Scheduled(fixedDelay = 500)
    void sendNews() {
        if (this.clients.isEmpty()) {
            return;
        }
        Part state = readState();
        for (Client client : this.clients) {
            try {
                client.send(this.events.after(client.lastNumber), state);
            }
            catch (IOException | IllegalStateException ex) {
                this.clients.remove(client);
            }
        }
    }

    /** A graceful stop waits for requests, and these would not end. */
    @EventListener
    void stop(ContextClosedEvent event) {
        this.clients.forEach((client) -> client.emitter.complete());
    }

    private Part readState() {
        try {
            return new Part("state", this.pageState.read());
        }
        catch (DelayQueueException ex) {
            return new Part("problem", String.valueOf(ex.getMessage()));
        }
    }

    /** A named part of a stream. */
    private record Part(String name, Object data) {
    }

    /** Represents a connected browser. */
    private static final class Client {

        private final SseEmitter emitter;

        private final boolean wantsState;

        private long lastNumber;

        Client(SseEmitter emitter, boolean wantsState) {
            this.emitter = emitter;
            this.wantsState = wantsState;
        }

        void send(List<ShopEvent> news, Part state) throws IOException {
            for (ShopEvent event : news) {
                send(new Part("event", event));
                this.lastNumber = event.number();
            }
            if (this.wantsState) {
                send(state);
            }
        }

        private void send(Part part) throws IOException {
            this.emitter.send(SseEmitter.event().name(part.name()).data(part.data(), MediaType.APPLICATION_JSON));
        }

    }

}

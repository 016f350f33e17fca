package io.delayqueue.sample;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** The switch that repairs the mail server, so that poison receipts go out. */
@RestController
@RequestMapping("/mail-server")
class MailServerController {

    private final MailServer mailServer;

    private final EventLog events;

    MailServerController(MailServer mailServer, EventLog events) {
        this.mailServer = mailServer;
        this.events = events;
    }

    @GetMapping
    Status status() {
        return new Status(this.mailServer.isRepaired());
    }

    @PutMapping
    Status change(@RequestBody Status status) {
        this.mailServer.setRepaired(status.repaired());
        this.events.add(ShopEvent.Kind.MAIL_SERVER, null,
                status.repaired() ? "repaired: poison receipts go out" : "broken: poison receipts fail");
        return status();
    }

    /** Whether the mail server takes every receipt. */
    record Status(boolean repaired) {
    }

}

package io.delayqueue.sample;

import java.util.List;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Orders over HTTP. */
@RestController
@RequestMapping("/orders")
class OrderController {

    private static final int LATEST = 100;

    private final OrderService service;

    private final Orders orders;

    OrderController(OrderService service, Orders orders) {
        this.service = service;
        this.orders = orders;
    }

    @GetMapping
    List<OrderView> latest() {
        return this.orders.latest(LATEST);
    }

    @PostMapping
    @ResponseStatus(HttpStatus.CREATED)
    OrderView place(@RequestBody PlaceOrder request) {
        return this.service.place(request);
    }

    @PostMapping("/{id}/pay")
    Payment pay(@PathVariable String id) {
        return this.service.pay(id);
    }

    @PostMapping("/{id}/extend")
    OrderView extend(@PathVariable String id) {
        return this.service.extend(id);
    }

}

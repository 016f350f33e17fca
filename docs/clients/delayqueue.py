"""A client of the HTTP API of DelayQueue. Needs Python 3.8 or later and nothing else.

    queue = Queue("https://shop.example.com/delayqueue/api/v1", "order-timeout", "worker", "secret")
    queue.send({"orderId": 42}, delay=1800)
    queue.consume(lambda message: print(message["payload"]))
"""

import base64
import http.client
import json
import logging
import random
import time
import urllib.error
import urllib.parse
import urllib.request

logger = logging.getLogger("delayqueue")

#: Raised by calls without a response of the API: no connection, a timeout, half a response.
NO_RESPONSE = (OSError, http.client.HTTPException)


class Problem(Exception):
    """Raised if the API rejects a request; has its problem details (RFC 9457)."""

    def __init__(self, status, details, retry_after=0):
        super().__init__("%s %s" % (status, details.get("detail")))
        self.status = status
        self.kind = details.get("type", "").rsplit(":", 1)[-1]
        self.details = details
        self.retry_after = retry_after

    @property
    def is_transient(self):
        """Whether a retry may succeed."""
        return self.status in (429, 502, 503, 504)


class Queue:
    """Produces to and consumes from one queue. Durations are seconds."""

    def __init__(self, api, name, user, password):
        self.url = "%s/queues/%s" % (api.rstrip("/"), urllib.parse.quote(name, safe=""))
        credentials = base64.b64encode(("%s:%s" % (user, password)).encode()).decode()
        self.headers = {"Authorization": "Basic " + credentials, "Content-Type": "application/json"}

    def send(self, payload, delay=None, id=None, **more):
        """Sends a message, due after the delay, or at dueAt, or now.

        With an id, the call may be repeated: the queue holds an id once, until its
        message is handled, and returns KEPT meanwhile. With onDuplicate="AFTER_CURRENT"
        the message follows the in-flight one instead; "REPLACE" also replaces a waiting
        one. If a Problem leaves it open whether a message without an id is stored, its
        details["id"] is the generated id, to repeat the call with.
        """
        body = dict(more, payload=payload)
        if delay is not None:
            body["delayMillis"] = round(delay * 1000)
        if id is None:
            return self._call("POST", "/messages", body)
        return self._call("PUT", self._message(id), body)

    def find(self, id):
        return self._call("GET", self._message(id))

    def cancel(self, id):
        return self._call("DELETE", self._message(id))["result"]

    def claim(self, max=1, wait=20, lease=30):
        """Claims messages, each leased to the caller, or waits for the first one."""
        body = {"max": max, "waitMillis": round(wait * 1000), "leaseMillis": round(lease * 1000)}
        return self._call("POST", "/claims", body, wait + 30)["messages"]

    def settle(self, operation, message, **more):
        """Ends a lease: acknowledge, retry, release or dead-letter.

        Returns False if the lease has lapsed or was settled before. If an earlier
        attempt of the same call got no response, False means that the outcome is
        unknown.
        """
        try:
            self._call("POST", "/leases/" + operation, dict(more, id=message["id"], token=message["token"]))
            return True
        except Problem as problem:
            if problem.kind == "lease-lost":
                return False
            raise

    def extend(self, message, lease=30):
        """Extends a lease from now; returns False if it has ended.

        Long-running handlers must call it, because leases are not extended
        automatically.
        """
        end = time.monotonic() + lease
        extended = self.settle("extend", message, leaseMillis=round(lease * 1000))
        if extended:
            message["leaseEnd"] = end
        return extended

    def consume(self, handler, until=lambda: False, lease=30, wait=20):
        """Calls the handler with each message. If the handler raises, the message is retried.

        Retries while the API is unavailable or overloaded, and raises permanent failures,
        such as wrong credentials.
        """
        while not until():
            messages = self._persist(lambda: self.claim(wait=wait, lease=lease), until)
            for message in messages or []:
                message["leaseEnd"] = time.monotonic() + message["leaseMillis"] / 1000
                try:
                    handler(message)
                except Exception as failure:
                    logger.warning("The handler failed for message %r", message["id"], exc_info=True)
                    operation, more = "retry", {"failure": repr(failure)[:4000]}
                else:
                    operation, more = "acknowledge", {}
                settled = self._persist(lambda: self.settle(operation, message, **more),
                                        lambda: time.monotonic() > message["leaseEnd"])
                if not settled:
                    logger.warning("The outcome of '%s' for message %r is unknown, because its lease has ended: "
                                   "the message may be handled again", operation, message["id"])

    @staticmethod
    def _persist(call, enough):
        """Retries a call until it succeeds; returns None if enough() ends the retries."""
        attempt = 0
        while attempt == 0 or not enough():
            try:
                return call()
            except Problem as problem:
                if not problem.is_transient:
                    raise
                failure, retry_after = problem, problem.retry_after
            except NO_RESPONSE as no_response:
                failure, retry_after = no_response, 0
            pause = max(retry_after, min(30, 0.1 * 2 ** min(attempt, 10)) * random.uniform(0.5, 1))
            logger.warning("Retrying in %.1f s: %s", pause, failure)
            time.sleep(pause)
            attempt += 1
        return None

    @staticmethod
    def _message(id):
        return "/messages/by-id?" + urllib.parse.urlencode({"id": id})

    def _call(self, method, path, body=None, timeout=30):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, self.headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return json.loads(answer.read() or "null")
        except urllib.error.HTTPError as error:
            try:
                details = json.loads(error.read())
            except ValueError:
                details = {}
            # A date is ignored.
            retry_after = error.headers.get("Retry-After", "")
            raise Problem(error.code, details, int(retry_after) if retry_after.isdigit() else 0) from None

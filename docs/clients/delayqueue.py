"""A client of the HTTP API of DelayQueue. Needs Python 3.8 or later and nothing else.

    queue = Queue("https://shop.example.com/delayqueue/api", "order-timeout", "worker", "secret")
    queue.send({"orderId": 42}, delay=1800)
    queue.consume(lambda message: print(message["payload"]))
"""

import base64
import json
import urllib.error
import urllib.parse
import urllib.request


class Problem(Exception):
    """What the API has against a request: problem details (RFC 9457)."""

    def __init__(self, status, details):
        super().__init__("%s %s" % (status, details.get("detail")))
        self.status = status
        self.kind = details.get("type", "").rsplit(":", 1)[-1]
        self.details = details


class Queue:
    """A queue, as a producer or a consumer sees it. Spans are seconds."""

    def __init__(self, api, name, user, password):
        self.url = "%s/queues/%s" % (api.rstrip("/"), urllib.parse.quote(name, safe=""))
        credentials = base64.b64encode(("%s:%s" % (user, password)).encode()).decode()
        self.headers = {"Authorization": "Basic " + credentials, "Content-Type": "application/json"}

    def send(self, payload, delay=0, id=None, **more):
        """Sends a message. With an id it may be repeated: the queue holds it once."""
        body = dict(more, payload=payload, delayMillis=round(delay * 1000))
        if id is None:
            return self._call("POST", "/messages", body)
        return self._call("PUT", self._message(id), body)

    def find(self, id):
        return self._call("GET", self._message(id))

    def cancel(self, id):
        return self._call("DELETE", self._message(id))["result"]

    def claim(self, max=1, wait=20, lease=30):
        """Takes messages, each leased to the caller, or waits for the first."""
        body = {"max": max, "waitMillis": round(wait * 1000), "leaseMillis": round(lease * 1000)}
        return self._call("POST", "/leases/claim", body, wait + 30)["messages"]

    def settle(self, operation, message, **more):
        """acknowledge, extend, retry, release or dead-letter; False if the lease had ended."""
        try:
            self._call("POST", "/leases/" + operation, dict(more, id=message["id"], token=message["token"]))
            return True
        except Problem as problem:
            if problem.kind == "lease-lost":
                return False
            raise

    def consume(self, handler, until=lambda: False):
        """Has the handler called with each message. One that raises has it tried again."""
        while not until():
            for message in self.claim():
                try:
                    handler(message)
                except Exception as failure:
                    self.settle("retry", message, failure=repr(failure)[:4000])
                else:
                    self.settle("acknowledge", message)

    @staticmethod
    def _message(id):
        return "/message?" + urllib.parse.urlencode({"id": id})

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
            raise Problem(error.code, details) from None

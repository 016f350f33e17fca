'use strict';

// Names of items come from other people. All text gets into the page by textContent, which never reads it as HTML.

const WORDS = {
  PLACED: 'Placed',
  REMINDED: 'Reminded',
  EXTENDED: 'Extended',
  PAID: 'Paid',
  CANCELLED: 'Cancelled',
  RECEIPT_FAILED: 'Receipt failed',
  RECEIPT_SENT: 'Receipt sent',
  DEAD: 'Dead letter',
  REDRIVEN: 'Redriven',
  PURGED: 'Purged',
  MAIL_SERVER: 'Mail server',
  REDIS_LOST: 'Redis lost',
};

const MAX_EVENTS = 200;

const byId = (id) => document.getElementById(id);

function element(name, className, text) {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

function button(text, label, action) {
  const made = element('button', '', text);
  made.type = 'button';
  made.setAttribute('aria-label', label);
  made.addEventListener('click', action);
  return made;
}

function setText(target, text) {
  if (target.textContent !== text) {
    target.textContent = text;
  }
}

// Calls to the server

async function call(method, path, body) {
  const request = { method };
  if (body !== undefined) {
    request.headers = { 'Content-Type': 'application/json' };
    request.body = JSON.stringify(body);
  }
  let problem = '';
  try {
    const response = await fetch(path, request);
    if (!response.ok) {
      problem = (await response.json()).detail;
    }
  }
  catch {
    problem = 'The server does not answer.';
  }
  byId('message').textContent = problem;
}

// Lists: a row stays the same element for as long as it is shown, so that it keeps the keyboard's focus.

function showRows(list, items, keyOf, create, update) {
  const rows = new Map([...list.children].map((row) => [row.dataset.key, row]));
  items.forEach((item, index) => {
    const key = keyOf(item);
    let row = rows.get(key);
    if (!row) {
      row = create(item);
      row.dataset.key = key;
    }
    rows.delete(key);
    if (list.children[index] !== row) {
      list.insertBefore(row, list.children[index] ?? null);
    }
    update(row, item);
  });
  rows.forEach((row) => row.remove());
}

function orderRow(order) {
  const row = element('li', 'order', '');
  const path = `orders/${encodeURIComponent(order.id)}`;
  const actions = element('div', 'actions', '');
  actions.append(
    button('Pay', `Pay ${order.item}`, () => call('POST', `${path}/pay`)),
    button('Extend', `Extend the time to pay ${order.item}`, () => call('POST', `${path}/extend`)));
  row.append(element('strong', 'item', order.item), element('span', 'amount', order.amount.toFixed(2)),
    element('code', 'id', order.id), element('span', 'state', ''), actions);
  return row;
}

function updateOrder(row, order) {
  const open = order.state === 'OPEN';
  row.dataset.state = order.state;
  // The server says how much is left; from there the browser only counts down, whatever its clock shows.
  row.dataset.endsAt = open ? performance.now() + order.leftMillis : '';
  row.querySelector('.actions').hidden = !open;
  if (!open) {
    setText(row.querySelector('.state'), WORDS[order.state]);
  }
}

function countDown() {
  for (const row of document.querySelectorAll('[data-state=OPEN]')) {
    const left = Math.max(0, Number(row.dataset.endsAt) - performance.now()) / 1000;
    setText(row.querySelector('.state'), `${left.toFixed(1)} s left`);
  }
}

function letterRow(letter) {
  const row = element('li', 'letter', '');
  const path = `dead-letters/${encodeURIComponent(letter.id)}`;
  const actions = element('div', 'actions', '');
  actions.append(
    button('Redrive', `Redrive the receipt of order ${letter.orderId}`, () => call('POST', `${path}/redrive`)),
    button('Purge', `Purge the receipt of order ${letter.orderId}`, () => call('DELETE', path)));
  row.append(element('strong', 'item', `Receipt of order ${letter.orderId}`),
    element('span', 'cause', `${letter.failures} failures. ${letter.cause}`), actions);
  return row;
}

function queueRow(queue) {
  const row = element('tr', '', '');
  const name = element('th', '', queue.queue);
  name.scope = 'row';
  row.append(name, ...['scheduled', 'due', 'leased', 'dead'].map((count) => element('td', count, '')));
  return row;
}

function updateQueue(row, queue) {
  for (const count of ['scheduled', 'due', 'leased', 'dead']) {
    const cell = row.querySelector(`.${count}`);
    setText(cell, String(queue[count]));
    cell.classList.toggle('some', queue[count] > 0);
  }
}

function showState(state) {
  showRows(byId('orders'), state.orders, (order) => order.id, orderRow, updateOrder);
  showRows(byId('letters'), state.deadLetters, (letter) => letter.id, letterRow, () => {});
  showRows(byId('queues'), state.queues, (queue) => queue.queue, queueRow, updateQueue);
  byId('repaired').checked = state.mailServerRepaired;
  byId('loss').hidden = !state.ledger;
  countDown();
}

function showEvent(event) {
  const row = element('li', 'event', '');
  row.dataset.kind = event.kind;
  const time = element('time', '', new Date(event.at).toLocaleTimeString());
  time.dateTime = event.at;
  row.append(time, element('strong', '', WORDS[event.kind] ?? event.kind));
  if (event.orderId) {
    row.append(element('code', 'id', event.orderId));
  }
  row.append(element('span', 'text', event.text));
  if (event.latenessMillis !== null) {
    row.append(element('span', 'lateness', `${event.latenessMillis} ms late`));
  }
  const list = byId('events');
  list.prepend(row);
  if (list.children.length > MAX_EVENTS) {
    list.lastElementChild.remove();
  }
}

function showStatus(text, good) {
  const status = byId('status');
  setText(status, text);
  status.classList.toggle('bad', !good);
}

// The stream. A new connection begins with all events that the server remembers.

const stream = new EventSource('events?state=true');
stream.addEventListener('open', () => byId('events').replaceChildren());
stream.addEventListener('event', (message) => showEvent(JSON.parse(message.data)));
stream.addEventListener('state', (message) => {
  showState(JSON.parse(message.data));
  showStatus('Live', true);
});
stream.addEventListener('problem', (message) => showStatus(message.data, false));
stream.addEventListener('error', () => showStatus('The server is away. Trying again …', false));

byId('place').addEventListener('submit', (submitted) => {
  submitted.preventDefault();
  const form = new FormData(submitted.target);
  call('POST', 'orders', { item: form.get('item'), amount: form.get('amount'), simulate: form.get('simulate') });
});
byId('delete-redis').addEventListener('click', () => call('DELETE', 'redis'));
byId('repaired').addEventListener('change', (changed) =>
  call('PUT', 'mail-server', { repaired: changed.target.checked }));
setInterval(countDown, 100);

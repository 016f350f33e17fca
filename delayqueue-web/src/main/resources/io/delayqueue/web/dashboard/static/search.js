// Finds an id in all queues, and messages of one queue by the beginning of their ids.

import { html, nothing } from './lib/lit-html.js';
import { count, named, plural } from './format.js';
import { ask, changed, state } from './store.js';
import { link } from './address.js';
import { loading, name, time, title } from './frame.js';
import { scan } from './scan.js';

const KINDS = { SCHEDULED: 'waiting', LEASED: 'in flight', DEAD_LETTER: 'dead letter', ENDED: 'ended' };
const MOST = 1_000;

export async function loadSearch(route) {
  const view = state.page;
  if (view.started) {
    return;
  }
  view.started = true;
  if (route.prefix) {
    view.walk = scan(route.queue, 'ALL', route.id, MOST, changed);
    return;
  }
  Object.assign(view, { matches: [], searched: 0, unread: [] });
  let cursor = null;
  do {
    const part = await ask('GET', 'search', { id: route.id, cursor });
    view.matches.push(...part.matches);
    view.unread.push(...part.unread);
    view.searched += part.searched;
    cursor = part.nextCursor;
    changed();
  } while (cursor && !view.stopped && state.page === view);
  view.complete = !cursor;
  if (view.matches.length === 1 && state.page === view) {
    location.replace(address(view.matches[0], route.id));
  }
}

function address(match, id) {
  return match.kind === 'DEAD_LETTER' ? link('queues', match.queue, 'dead-letters', match.deadLetterId) : link('queues', match.queue, 'messages', id);
}

export function leaveSearch(view) {
  view.stopped = true;
  view.walk?.stop();
}

function matches(view, id) {
  return html`<ul>${view.matches.map((match) => html`<li><a href=${address(match, id)}>${name(id)}</a> in queue ${name(match.queue)}:
    ${KINDS[match.kind] ?? match.kind} ${match.deadLetteredAt ? time(match.deadLetteredAt) : nothing}</li>`)}</ul>`;
}

function exact(id) {
  const view = state.page;
  if (!view.matches) {
    return loading();
  }
  return html`<p role="status">${view.complete ? `${plural(view.searched, 'queue')} searched.` : `${plural(view.searched, 'queue')} searched so far …`}
    ${view.unread.length > 0 ? html` These could not be read: ${view.unread.map((queue) => html`${name(queue)} `)}` : nothing}</p>
    ${view.complete && view.matches.length === 0 ? html`<p class="empty">No queue holds a message or a dead letter with this id${state.overview?.history ? '' : ', or no longer does. Messages that have ended are found only with a history of messages'}.</p>` : matches(view, id)}`;
}

function prefixed(queue, id) {
  const { walk } = state.page;
  if (!walk) {
    return loading();
  }
  const found = walk.messages.size + walk.deadLetters.size;
  return html`<p role="status">${plural(found, 'match', 'matches')}, ${count(walk.examined)} entries examined${walk.running ? ' so far …' : walk.stopped ? '; stopped' : walk.complete ? '' : '; there may be more'}.
    ${walk.running ? html`<button type="button" @click=${() => {
    walk.stop();
    changed();
  }}>Stop</button>` : nothing}</p>
    ${walk.failure ? html`<p class="failure" role="alert">${walk.failure.message}</p>` : nothing}
    <ul>${[...walk.messages.values()].map((message) => html`<li><a href=${link('queues', queue, 'messages', message.id)}>${name(message.id)}</a>: ${KINDS[message.state]}</li>`)}
    ${[...walk.deadLetters.values()].map((dead) => html`<li><a href=${link('queues', queue, 'dead-letters', dead.deadLetterId)}>${name(dead.id)}</a>: dead letter ${time(dead.deadLetteredAt)}</li>`)}</ul>`;
}

export function searchPage() {
  const { id, queue, prefix } = state.route;
  return html`${title(html`Search for ${name(id)}`)}
    ${prefix ? html`<p>Ids that begin with this in queue ${name(queue)}.</p>${prefixed(queue, id)}` : exact(id)}`;
}

/** Renders the search box; in a queue it also finds the beginnings of ids. */
export function searchBox() {
  const { queue } = state.route;
  return html`<form role="search" class="search" @submit=${(event) => {
    event.preventDefault();
    const id = new FormData(event.target).get('find').trim();
    if (id) {
      const within = event.submitter?.value === 'prefix';
      location.hash = within ? link('search', id, queue) : link('search', id);
    }
  }}><label class="unseen" for="find">Id of a message</label>
    <input id="find" name="find" type="search" placeholder="Id of a message  ( / )" autocomplete="off" maxlength="128">
    ${queue ? html`<button type="submit" value="exact">Find</button><button type="submit" value="prefix" title=${`Ids in queue ${named(queue)} that begin with this`}>Begins with</button>` : nothing}</form>`;
}

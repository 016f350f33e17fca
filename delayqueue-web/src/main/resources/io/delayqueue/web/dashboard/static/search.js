// Finds an id in all queues, and messages of one queue by the beginning of their ids.

import { html, nothing } from './lib/lit-html.js';
import { count, named, plural } from './format.js';
import { askForView, changed, state } from './store.js';
import { link } from './address.js';
import { loading, name, time, title } from './frame.js';
import { scan } from './scan.js';

const KINDS = { SCHEDULED: 'waiting', LEASED: 'in flight', DEAD_LETTER: 'dead letter', ENDED: 'ended' };
const MOST = 1_000;

/** Starts the search, or goes on with the part that has failed. It runs in the background, so that the page goes on refreshing. */
export async function loadSearch(route) {
  const view = state.page;
  if (route.prefix) {
    view.walk ??= scan(route.queue, 'ALL', route.id, MOST, changed);
    if (view.walk.failure && !view.walk.failure.rejected) {
      view.walk.resume();
    }
    return;
  }
  if (!view.matches) {
    begin(view);
  }
  if (!view.running && !view.stopped && !view.complete && !view.failure?.rejected) {
    search(view, route.id);
  }
}

function begin(view) {
  Object.assign(view, { matches: [], searched: 0, unread: [], historyUnread: false, cursor: null, complete: false, stopped: false, failure: null });
}

/** Asks for part after part, until the search is complete, stopped, or begun anew. */
async function search(view, id) {
  const { matches } = view;
  const ended = () => view.stopped || view.matches !== matches;
  Object.assign(view, { running: true, failure: null });
  try {
    do {
      const part = await askForView('GET', 'search', { id, cursor: view.cursor });
      if (ended()) {
        return;
      }
      matches.push(...part.matches);
      view.unread.push(...part.unread);
      view.searched += part.searched;
      view.historyUnread ||= part.historyUnread;
      view.cursor = part.nextCursor;
      changed();
    } while (view.cursor);
    view.complete = true;
  }
  catch (failure) {
    if (ended()) {
      return;
    }
    view.failure = failure;
  }
  view.running = false;
  changed();
  // Another match may be in what was not read.
  if (view.complete && matches.length === 1 && !view.unread.length && !view.historyUnread && state.page === view) {
    location.replace(address(matches[0], id));
  }
}

/** Starts anew, as messages come and go. */
function searchAgain({ id, queue, prefix }) {
  const view = state.page;
  if (prefix) {
    view.walk = scan(queue, 'ALL', id, MOST, changed);
  }
  else {
    begin(view);
    search(view, id);
  }
  changed();
}

/** Renders one button for both, so that it keeps the focus. It stands outside of the text that is read out. */
function control(running, stop) {
  return html`<button type="button" @click=${() => {
    if (running) {
      stop();
      changed();
    }
    else {
      searchAgain(state.route);
    }
  }}>${running ? 'Stop' : 'Search again'}</button>`;
}

function interrupted(failure) {
  return failure ? html`<p class="failure" role="alert">The search was interrupted: ${failure.message}</p>` : nothing;
}

function address(match, id) {
  return match.kind === 'DEAD_LETTER' ? link('queues', match.queue, 'dead-letters', match.deadLetterId) : link('queues', match.queue, 'messages', id);
}

export function leaveSearch(view) {
  view.stopped = true;
  view.walk?.stop();
  view.renewal?.stop();
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
  return html`<p><span role="status">${plural(view.searched, 'queue')} searched${view.complete ? '.' : view.running ? ' so far …' : view.stopped ? '; stopped.' : ' so far.'}
    ${view.unread.length > 0 ? html` These could not be read: ${view.unread.map((queue) => html`${name(queue)} `)}` : nothing}
    ${view.historyUnread ? ' The history of messages could not be read: messages that have ended may be missing.' : nothing}</span>
    ${control(view.running, () => Object.assign(view, { stopped: true, running: false }))}</p>
    ${interrupted(view.failure)}
    ${view.complete && view.matches.length === 0 ? html`<p class="empty">No queue holds a message or a dead letter with this id${state.overview?.history ? '' : ', or no longer does. Messages that have ended are found only with a history of messages'}.</p>` : matches(view, id)}`;
}

function prefixed(queue, id) {
  const { walk } = state.page;
  if (!walk) {
    return loading();
  }
  const found = walk.messages.size + walk.deadLetters.size;
  return html`<p><span role="status">${plural(found, 'match', 'matches')}, ${count(walk.examined)} entries examined${walk.running ? ' so far …' : walk.stopped ? '; stopped' : walk.complete ? '' : '; there may be more'}.</span>
    ${control(walk.running, walk.stop)}</p>
    ${interrupted(walk.failure)}
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

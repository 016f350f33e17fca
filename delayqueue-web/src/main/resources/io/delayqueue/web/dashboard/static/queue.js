// Shows one queue: its counts, its messages by state, and their actions.

import { html, nothing } from './lib/lit-html.js';
import { repeat } from './lib/directives/repeat.js';
import { clock, count, countdown, duration, named, plural } from './format.js';
import { ask, askForView, changed, HISTORY, may, now, queuePath, requireNotFound, state } from './store.js';
import { link, showQuery } from './address.js';
import { crumbs, loading, name, noQueue, time, title } from './frame.js';
import { confirm, hideCount, show } from './dialog.js';
import { follow } from './throughput.js';
import { throughputNote, throughputPlots, linePlot } from './history.js';
import { strip } from './plots.js';
import { activityNote, activityPlots, loadActivity, notRecorded, rangeChoice, showsActivity } from './activity.js';
import { dueNote, duePlots } from './next-hour.js';
import { paused } from './overview.js';
import { alertsOf } from './alerts.js';
import { restoring } from './restore.js';
import { queueLatenessTile } from './lateness.js';
import { choosing, choosingAll, FIRST_PAGE, openPage, pageSize, pagesOf, turning, typing } from './pages.js';
import { scan } from './scan.js';
import { forgetting } from './forget.js';
import { pausing } from './pause.js';
import { handlersOfQueue } from './handlers.js';

const LISTINGS = [['SCHEDULED', 'Waiting'], ['DUE', 'Only those due'], ['LEASED', 'In flight'], ['RETRYING', 'Retrying'], ['WAITING_IN_GROUP', 'Waiting in their group']];
// Collecting more at once would take too long.
const MOST = 10_000;
const BATCH = 100;
const SHOWN = 200;
// A list that is a walk is read again after this time, and not before ten times the duration of the walk.
const WALK_KEPT = 15_000;
const WALK_SHARE = 10;

/** Reads from the address which messages to list. */
export function prepareQueue({ query }) {
  const view = state.page;
  const listing = LISTINGS.map(([which]) => which).find((which) => which.toLowerCase() === query.list) ?? 'SCHEDULED';
  const prefix = query.prefix ?? '';
  if (view.listing !== listing || view.prefix !== prefix) {
    view.walk?.stop();
    view.renewal?.stop();
    Object.assign(view, { listing, prefix, walk: null, renewal: null, pages: pagesOf() });
  }
  openPage(view.pages, query);
  view.typed = view.typing ? view.typed : prefix;
  Object.assign(view, { messages: null, chosen: new Set() });
}

/** Returns whether the list is a walk by the beginning of ids, and not pages in order. */
function isWalk(view) {
  return view.listing === 'RETRYING' || Boolean(view.prefix);
}

/** Returns whether a list is to be read again because of its age, successful or not. */
function isOld({ startedAt, endedAt, stopped, failure }) {
  return !stopped && !failure?.rejected && Date.now() - endedAt >= Math.max(WALK_KEPT, WALK_SHARE * (endedAt - startedAt));
}

/** Walks again if the list is old or from before a change. Its rows stay until the new walk has ended without a failure. */
async function walk(queue, view) {
  const before = view.walk;
  if (!before || (view.outdated && (before.running || before.stopped))) {
    before?.stop();
    Object.assign(view, { walk: scan(queue, view.listing, view.prefix, MOST, changed), outdated: false });
    return;
  }
  const last = view.renewal ?? before;
  if (before.running || !(view.outdated || (!last.running && isOld(last)))) {
    return;
  }
  view.renewal?.stop();
  const renewal = scan(queue, view.listing, view.prefix, MOST, () => {});
  Object.assign(view, { renewal, outdated: false });
  await renewal.done;
  if (view.renewal !== renewal) {
    return;
  }
  if (renewal.failure) {
    before.failure = renewal.failure;
  }
  else {
    Object.assign(view, { walk: renewal, renewal: null, chosen: new Set([...view.chosen].filter((id) => renewal.messages.has(id))) });
  }
  changed();
}

export async function loadQueue(route) {
  const view = state.page;
  const { pages } = view;
  const { cursor } = pages;
  try {
    // Browsers send six requests at a time to a host, so one remains for the overview and one for the question about an outage.
    const histogramAndRetrying = async () => [await askForView('GET', `${queuePath(route.queue)}/due-histogram`), await askForView('GET', `${queuePath(route.queue)}/retrying`)];
    const [details, [histogram, retrying], messages] = await Promise.all([
      askForView('GET', queuePath(route.queue)),
      histogramAndRetrying(),
      isWalk(view) ? null : askForView('GET', `${queuePath(route.queue)}/messages`, { listing: view.listing, cursor, limit: pageSize() }),
      loadActivity(view, route.queue),
    ]);
    // Another list has other pages, and may have the same cursor.
    if (state.page === view && view.pages === pages && pages.cursor === cursor) {
      Object.assign(view, { histogram, retrying });
      if (isWalk(view)) {
        walk(route.queue, view);
      }
      view.details = details;
      view.gone = false;
      const at = Date.now();
      view.track ??= [];
      view.throughputs = [...view.throughputs ?? [], { at, throughput: follow(view.track, at, details.throughput) }].slice(-HISTORY);
      view.messages = messages;
      view.nodes = details.leased > 0 ? (await askForView('GET', 'nodes')).nodes : [];
    }
  }
  catch (failure) {
    requireNotFound(failure);
    view.details = null;
    view.gone = true;
  }
}

function select(which) {
  showQuery({ list: which === 'SCHEDULED' ? null : which.toLowerCase(), ...FIRST_PAGE });
}

// ---- actions on messages

const DOING = {
  cancel: { verb: 'Cancel', danger: true, text: 'The messages are removed and will not be handled. Those in flight continue, but are not retried.',
    one: 'The message is removed and will not be handled. If it is in flight, its handler continues, but it is not retried.' },
  now: { verb: 'Make due now', text: 'The messages become due now. Those in flight keep their due time.', one: 'The message becomes due now, unless it is in flight.' },
  reschedule: { verb: 'Reschedule', text: 'The messages get the new due time.', one: 'The message gets the new due time.' },
};

function fieldsOf(doing) {
  return doing === 'reschedule' ? html`<label>Due in <input type="number" name="amount" min="0" max="100000" value="10" required></label>
    <label>Unit <select name="unit"><option value="1000">seconds</option><option value="60000" selected>minutes</option>
    <option value="3600000">hours</option><option value="86400000">days</option></select></label>` : nothing;
}

/** Asks for confirmation, runs the action in batches, and shows the number of messages of each result. */
export function askMessages(queue, doing, ids) {
  const how = DOING[doing];
  confirm({
    title: ids.length === 1 ? html`${how.verb}: message ${name(ids[0])}?` : `${how.verb}: ${plural(ids.length, 'message')}?`,
    text: html`<p>In queue ${name(queue)}. ${ids.length === 1 ? how.one : how.text}</p>`,
    fields: fieldsOf(doing),
    confirm: `${how.verb}: ${plural(ids.length, 'message')}`,
    danger: how.danger,
    act: async (form, progress) => {
      const delayMillis = doing === 'reschedule' ? Number(form.get('amount')) * Number(form.get('unit')) : 0;
      const results = {};
      let done = 0;
      for (let from = 0; from < ids.length; from += BATCH) {
        if (!progress(`${count(from)} of ${count(ids.length)} done`)) {
          break;
        }
        const body = { ids: ids.slice(from, from + BATCH) };
        const answer = await ask('POST', `${queuePath(queue)}/messages/${doing === 'cancel' ? 'cancel' : 'reschedule'}`, {},
          doing === 'cancel' ? body : { ...body, delayMillis });
        answer.results.forEach(({ result }) => {
          results[result] = (results[result] ?? 0) + 1;
        });
        done += body.ids.length;
        state.page.outdated = true;
      }
      if (state.page.chosen) {
        state.page.chosen = new Set();
      }
      return summary(results, ids.length - done);
    },
  });
}

const RESULTS = {
  CANCELLED: ['cancelled', 'cancelled'],
  RESCHEDULED: ['rescheduled', 'rescheduled'],
  LEASED: ['was in flight', 'were in flight'],
  NOT_FOUND: ['was not found', 'were not found'],
  RECORDED: ['recorded', 'recorded'],
};

function summary(results, left) {
  const parts = Object.entries(results).map(([result, number]) => `${count(number)} ${RESULTS[result]?.[number === 1 ? 0 : 1] ?? result}`);
  return parts.join(', ') + (left > 0 ? `; stopped, ${count(left)} unchanged` : '');
}

/** Counts first: collects the ids of what is shown, on all pages. Offers nothing once the page or its filter has changed. */
async function askAll(queue, doing) {
  const view = state.page;
  const { listing, prefix } = view;
  const isShown = () => state.page === view && view.listing === listing && view.prefix === prefix;
  const ids = [];
  show('Counting …');
  try {
    let cursor = null;
    if (isWalk(view)) {
      const all = scan(queue, listing, prefix, MOST, () => isShown() ? show(`Counting … ${count(all?.messages.size ?? 0)}`) : all?.stop());
      await all.done;
      if (all.failure) {
        throw all.failure;
      }
      ids.push(...all.messages.keys());
      cursor = all.complete ? null : 'more';
    }
    else do {
      const some = await ask('GET', `${queuePath(queue)}/messages`, { listing, cursor, limit: BATCH });
      some.messages.forEach((message) => ids.push(message.id));
      cursor = some.nextCursor;
    } while (cursor && ids.length < MOST && isShown());
    if (!isShown()) {
      hideCount();
      return;
    }
    show(cursor ? `More than ${count(MOST)} match; these are the first` : '');
    if (ids.length > 0) {
      askMessages(queue, doing, ids);
    }
    else {
      show('No message matches');
    }
  }
  catch (error) {
    show(`Nothing was changed: ${error.message}`);
  }
}

// ---- the list

function row(queue, message) {
  return html`<tr>
    ${choosing(message.id, named(message.id))}
    <th scope="row"><a href=${link('queues', queue, 'messages', message.id)}>${name(message.id)}</a></th>
    <td data-label="Due">${time(message.dueAt ?? message.leasedUntil)} <span class="soft">${message.leasedUntil
    ? `leased ${ends(message.leasedUntil)}` : message.dueAt ? countdown(message.dueAt, now()) : ''}</span></td>
    <td class=${`number${message.priority ? '' : ' zero'}`} data-label="Priority">${message.priority}</td>
    <td class=${message.group ? '' : 'zero'} data-label="Group">${message.group ? name(message.group) : '–'}</td>
    <td class=${`cause${message.failures > 0 ? '' : ' zero'}`} data-label="Failures"><span class="clamp" title=${message.lastFailure ? named(message.lastFailure) : nothing}>${count(message.failures)}${message.lastFailure ? html` <span class="soft">${named(message.lastFailure)}</span>` : nothing}</span></td>
  </tr>`;
}

function ends(iso) {
  return Date.parse(iso) > now() ? `for ${countdown(iso, now()).replace('in ', '')} more` : 'no more';
}

function actions(queue) {
  const view = state.page;
  if (!may('OPERATE')) {
    return nothing;
  }
  const chosen = [...view.chosen];
  const some = chosen.length > 0;
  const doings = view.listing === 'LEASED' ? ['cancel'] : ['cancel', 'now', 'reschedule'];
  // While an id is typed, the messages that match are not those on the page yet.
  return html`<div class="bar" role="group" aria-label="Actions">
    ${doings.map((doing) => html`<button type="button" class=${DOING[doing].danger ? 'risky' : nothing} ?disabled=${Boolean(view.typing)} @click=${() => some ? askMessages(queue, doing, chosen) : askAll(queue, doing)}>${DOING[doing].verb}${some
    ? ` (${count(chosen.length)})` : ': all matching'} …</button>`)}
  </div>`;
}

function messages(queue) {
  const view = state.page;
  if (isWalk(view) ? !view.walk : !view.messages) {
    return loading();
  }
  const some = isWalk(view) ? [...view.walk.messages.values()].sort((one, other) => Date.parse(one.dueAt ?? one.leasedUntil) - Date.parse(other.dueAt ?? other.leasedUntil)).slice(0, SHOWN)
    : view.messages.messages;
  return html`${actions(queue)}
    ${some.length === 0 ? html`<p class="empty">${isWalk(view) && view.prefix ? 'No message matches.' : 'There are no messages.'}</p>` : html`
    <div class="scroll" tabindex="0" role="group" aria-labelledby="messages"><table>
      <caption class="unseen">Messages: ${LISTINGS.find(([which]) => which === view.listing)[1]}</caption>
      <thead><tr>${choosingAll(some.map((message) => message.id))}
      <th scope="col">Id</th><th scope="col">Due</th><th scope="col" class="number">Priority</th><th scope="col">Group</th><th scope="col">Failures</th></tr></thead>
      <tbody>${repeat(some, (message) => `${message.group ?? ''}\n${message.id}`, (message) => row(queue, message))}</tbody>
    </table></div>`}
    ${isWalk(view) ? walked(view.walk) : turning(view.pages, view.messages.nextCursor)}`;
}

function walked(all) {
  return html`<p class="soft"><span role="status">${plural(all.messages.size, 'message')}${all.messages.size > SHOWN ? `, the first ${count(SHOWN)} are shown` : ''}; ${count(all.examined)} examined${all.running ? ' so far …' : all.complete ? '' : '; there may be more'}</span>
    <span class="asof">As of ${clock(all.startedAt)}.</span>
    ${all.running ? html`<button type="button" @click=${() => {
    all.stop();
    changed();
  }}>Stop</button>` : nothing} ${all.failure ? html`<span class="failure" role="alert">${all.failure.message}</span>` : nothing}</p>`;
}

function find(event, queue) {
  event.preventDefault();
  const id = new FormData(event.target).get('id');
  if (id) {
    location.hash = link('queues', queue, 'messages', id);
  }
}

/** Shows the list, below the plots. */
function toMessages() {
  const heading = document.getElementById('messages');
  heading.scrollIntoView();
  heading.focus({ preventScroll: true });
}

export function queuePage() {
  const queue = state.route.queue;
  const view = state.page;
  const details = view.details;
  if (!details) {
    return html`${crumbs([queue, link('queues', queue)])}${title(html`Queue ${name(queue)}`)}${view.gone
    ? noQueue() : loading()}`;
  }
  const held = { SCHEDULED: details.scheduled, DUE: details.due, LEASED: details.leased, RETRYING: view.retrying.count, WAITING_IN_GROUP: view.histogram.waitingInGroup };
  const seen = (field) => (entry) => entry.queues.get(queue)?.[field];
  return html`${crumbs([queue, link('queues', queue)])}
    ${title(html`Queue ${name(queue)}${paused(details)}`, html`<div class="bar">${rangeChoice()}<a class="button" href=${link('queues', queue, 'schedules')}>Schedules</a>${pausing(queue, details)}</div>`)}
    ${alertsOf(queue)}
    ${restoring(queue, details)}
    ${forgetting(queue, details)}
    <dl class="tiles">
      ${queueLatenessTile(queue)}
      ${[['Waiting', count(details.scheduled)], ['Due now', count(details.due)], ['Oldest due', duration(details.oldestDueMillis)], ['In flight', count(details.leased)]]
    .map(([text, value]) => html`<div><dt>${text}</dt><dd>${value}</dd></div>`)}
      <div><dt>Retrying</dt><dd><a href=${link('queues', queue, { list: 'retrying' })} @click=${toMessages}>${count(view.retrying.count)}${view.retrying.complete ? '' : '+'}</a></dd></div>
      <div><dt>Dead letters</dt><dd><a href=${link('queues', queue, 'dead-letters')}>${count(details.dead)}</a></dd></div>
    </dl>
    ${showsActivity(view.activity) ? html`${strip(activityPlots(view.activity, 'this queue'))}${activityNote(view.activity)}`
    : html`${strip(html`${linePlot('backlog', 'Messages of this queue', [['Due', seen('due')], ['In flight', seen('leased')], ['Dead letters', seen('dead')]], count)}
      ${details.throughput ? throughputPlots(view.throughputs) : nothing}`)}
    ${details.throughput ? throughputNote(view.throughputs) : nothing}${notRecorded(view.activity)}`}
    ${strip(duePlots(view.histogram))}
    ${dueNote(view.histogram)}
    ${handlersOfQueue(queue, view.nodes)}
    <section aria-labelledby="messages">
      <h2 id="messages" tabindex="-1">Messages</h2>
      <div class="bar">
        <form class="bar" @submit=${(event) => find(event, queue)}>
          <label>Id <input name="id" type="search" autocomplete="off" required></label><button type="submit">Find</button>
        </form>
        <span class="gap"></span>
        <fieldset class="choices"><legend class="unseen">State</legend>${LISTINGS.map(([which, text]) => html`<label><input type="radio" name="listing" value=${which}
          .checked=${view.listing === which} @change=${() => select(which)}>${text}${held[which] > 0 ? html` <span class="held">${count(held[which])}${which === 'RETRYING' && !view.retrying.complete ? '+' : ''}</span>` : nothing}</label>`)}</fieldset>
        <label>Id begins with <input type="search" .value=${view.typed} @input=${typing('prefix')}></label>
      </div>
      ${messages(queue)}
    </section>`;
}

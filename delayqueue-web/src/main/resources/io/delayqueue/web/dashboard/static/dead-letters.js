// Lists dead letters with their causes; redrives and purges them, also by filter.

import { html, nothing } from './lib/lit-html.js';
import { repeat } from './lib/directives/repeat.js';
import { count, moment, named, plural, shown } from './format.js';
import { ask, askForView, exists, may, queuePath, requireNotFound, state } from './store.js';
import { link, showQuery } from './address.js';
import { crumbs, loading, name, noQueue, time, title } from './frame.js';
import { confirm, hideCount, show } from './dialog.js';
import { content, facts } from './message.js';
import { copying } from './copy.js';
import { choosing, choosingAll, FIRST_PAGE, openPage, pageSize, pagesOf, turning } from './pages.js';

const STEPS = 10;

const DOING = {
  redrive: { verb: 'Redrive', done: 'redriven', text: 'The messages become due now, with their counts at zero.', one: 'The message becomes due now, with its counts at zero.' },
  purge: { verb: 'Purge', done: 'purged', danger: true, text: 'They are deleted permanently, with payloads and causes.', one: 'It is deleted permanently, with its payload and cause.' },
};

const FILTERS = ['idPrefix', 'causeContains', 'group', 'deadLetteredFrom', 'deadLetteredBefore'];

/** Reads filter and page from the address. */
export function prepareDeadLetters({ parts, query }) {
  const view = state.page;
  const filter = {};
  [...FILTERS, 'causeGroup'].filter((field) => query[field]).forEach((field) => {
    filter[field] = query[field];
  });
  if (JSON.stringify(filter) !== JSON.stringify(view.filter)) {
    Object.assign(view, { filter, pages: pagesOf() });
  }
  openPage(view.pages, query);
  // An open dead letter leads back to the list as it was.
  const address = link(...parts, query);
  if (view.address !== address) {
    Object.assign(view, { address, deadLetters: null, chosen: new Set() });
  }
}

export async function loadDeadLetters(route) {
  const view = state.page;
  const { address } = view;
  try {
    const [deadLetters, causes] = await Promise.all([
      findDeadLetters(route.queue, view.filter, view.pages.cursor),
      // Grouping takes long, and the list does not need it.
      askForView('GET', `${queuePath(route.queue)}/dead-letters/causes`).catch((failure) => {
        if (failure.rejected) {
          throw failure;
        }
        return view.causes;
      }),
    ]);
    if (state.page === view && view.address === address) {
      Object.assign(view, { deadLetters, causes, gone: false });
    }
  }
  catch (failure) {
    requireNotFound(failure);
    view.gone = true;
  }
}

export async function loadDeadLetter(route) {
  const view = state.page;
  const { deadLetterId } = route;
  view.opened = view.opened?.deadLetterId === deadLetterId ? view.opened : { deadLetterId };
  const { opened } = view;
  try {
    opened.deadLetter = await askForView('GET', `${queuePath(route.queue)}/dead-letters/by-id`, { deadLetterId });
    opened.gone = false;
  }
  catch (failure) {
    requireNotFound(failure);
    opened.unknown = !await exists(route.queue);
    opened.gone = true;
  }
}

/**
 * Requests steps until there is a page or a limit is reached, because with a filter a step may return few or none. The next
 * page begins where this one has stopped, also if it holds none.
 */
async function findDeadLetters(queue, filter, from) {
  const found = [];
  let examined = 0;
  let cursor = from;
  for (let steps = 0; steps < STEPS; steps++) {
    const some = await askForView('POST', `${queuePath(queue)}/dead-letters/search`, { limit: pageSize() }, { filter, cursor });
    found.push(...some.deadLetters);
    examined += some.examined;
    cursor = some.nextCursor;
    if (!cursor || found.length >= pageSize()) {
      break;
    }
  }
  return { found, examined, nextCursor: cursor };
}

/** Counts, redrives or purges the matching dead letters, in steps that the server limits. */
async function runSteps(queue, operation, filter, progress = () => true) {
  const all = { matched: 0, changed: 0, stopped: false, deadLetteredBefore: null };
  let cursor = null;
  do {
    const step = await ask('POST', `${queuePath(queue)}/dead-letters/${operation}`, {}, { filter, cursor });
    all.matched += step.matched;
    all.changed += step.changed;
    all.deadLetteredBefore ??= step.deadLetteredBefore;
    cursor = step.nextCursor;
    if (cursor && !progress(`${count(all.changed)} done`)) {
      all.stopped = true;
      break;
    }
  } while (cursor);
  return all;
}

function filterBy(event) {
  event.preventDefault();
  const form = new FormData(event.target);
  const filter = {};
  FILTERS.forEach((field) => {
    const value = form.get(field);
    filter[field] = value && field.startsWith('deadLettered') ? new Date(value).toISOString() : value;
  });
  showQuery({ ...filter, causeGroup: null, ...FIRST_PAGE });
}

/** Formats a time for its input field, to the second. */
function local(iso) {
  const at = new Date(iso ?? NaN);
  if (Number.isNaN(at.getTime())) {
    return '';
  }
  return new Date(at - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

function inWords(filter) {
  const parts = [
    filter.idPrefix && html`its id begins with ${name(filter.idPrefix)}`,
    filter.causeContains && html`its cause contains ${name(filter.causeContains)}`,
    filter.causeGroup && html`they have the chosen cause`,
    filter.group && html`its group is ${name(filter.group)}`,
    filter.deadLetteredFrom && html`it was dead-lettered at or after ${time(filter.deadLetteredFrom)}`,
    filter.deadLetteredBefore && html`it was dead-lettered before ${time(filter.deadLetteredBefore)}`,
  ].filter(Boolean);
  return parts.length === 0 ? 'of the queue' : html`of which: ${parts.map((part, index) => html`${index > 0 ? ', and ' : ''}${part}`)}`;
}

function askSome(queue, doing, deadLetterIds) {
  const how = DOING[doing];
  confirm({
    title: html`${how.verb}: ${deadLetterIds.length === 1 ? html`dead letter ${name(deadLetterIds[0])}` : plural(deadLetterIds.length, 'dead letter')}?`,
    text: html`<p>In queue ${name(queue)}. ${deadLetterIds.length === 1 ? how.one : how.text}</p>`,
    confirm: `${how.verb}: ${plural(deadLetterIds.length, 'dead letter')}`,
    danger: how.danger,
    act: async (form, progress, leave) => {
      let done = 0;
      const kept = [];
      for (const deadLetterId of deadLetterIds) {
        if (!progress(`${count(done)} of ${count(deadLetterIds.length)} done`)) {
          break;
        }
        try {
          await (doing === 'purge' ? ask('DELETE', `${queuePath(queue)}/dead-letters/by-id`, { deadLetterId })
            : ask('POST', `${queuePath(queue)}/dead-letters/by-id/redrive`, { deadLetterId }));
          done++;
        }
        catch (failure) {
          if (failure.status !== 404 && failure.status !== 409) {
            throw failure;
          }
          kept.push(failure.message);
        }
      }
      state.page.chosen = new Set();
      if (state.route.page === 'deadLetter') {
        leave(state.page.address ?? link('queues', queue, 'dead-letters'));
      }
      return `${plural(done, 'dead letter')} ${how.done}${kept.length > 0 ? `; ${count(kept.length)} unchanged: ${kept[0]}` : ''}`;
    },
  });
}

async function askAll(queue, doing, filter = state.page.filter) {
  const how = DOING[doing];
  const view = state.page;
  const { page } = state.route;
  const isShown = () => state.page === view && state.route.page === page;
  show('Counting …');
  try {
    const { matched: number, deadLetteredBefore } = await runSteps(queue, 'count', filter, isShown);
    if (!isShown()) {
      hideCount();
      return;
    }
    if (number === 0) {
      show('No dead letter matches');
      return;
    }
    show('');
    confirm({
      title: number === 1 ? `${how.verb}: the dead letter that matches?` : `${how.verb}: all ${plural(number, 'dead letter')} that match?`,
      text: html`<p>In queue ${name(queue)}. ${number === 1 ? 'That' : 'Those'} ${inWords(filter)}. There ${number === 1 ? 'is' : 'are'} ${count(number)} now. ${number === 1 ? how.one : how.text}</p>`,
      confirm: `${how.verb}: ${plural(number, 'dead letter')}`,
      danger: how.danger,
      act: async (form, progress) => {
        const done = await runSteps(queue, doing, { ...filter, deadLetteredBefore }, progress);
        const left = done.matched - done.changed;
        return `${plural(done.changed, 'dead letter')} ${how.done}${left > 0 ? `; ${count(left)} unchanged, because a message of the same id waits or the content is missing` : ''}${done.stopped ? '; stopped' : ''}`;
      },
    });
  }
  catch (error) {
    show(`Nothing was changed: ${error.message}`);
  }
}

function row(queue, deadLetter) {
  return html`<tr>
    ${choosing(deadLetter.deadLetterId, `${named(deadLetter.id)}, dead-lettered ${moment(deadLetter.deadLetteredAt)}`)}
    <th scope="row"><a href=${link('queues', queue, 'dead-letters', deadLetter.deadLetterId)}>${name(deadLetter.id)}</a></th>
    <td data-label="Dead-lettered">${time(deadLetter.deadLetteredAt)}</td>
    <td class="number" data-label="Failures">${count(deadLetter.failures)}</td>
    <td class="cause" data-label="Cause"><span class="clamp">${brief(deadLetter.cause.split('\n')[0])}</span></td>
  </tr>`;
}

/** Renders that a page holds no dead letter, and how many of them did not match. */
function none({ filter, pages, deadLetters: { examined, nextCursor } }) {
  const text = nextCursor ? `None of the ${plural(examined, 'dead letter')} of this page matches. The next page goes on with older ones.`
    : pages.number > 1 ? 'No older dead letter matches.'
      : Object.keys(filter).length > 0 ? 'No dead letter matches.' : 'There are no dead letters.';
  return html`<p class="empty" role="status">${text}</p>`;
}

function table(queue) {
  const view = state.page;
  const { found: deadLetters, examined, nextCursor } = view.deadLetters;
  if (deadLetters.length === 0) {
    return html`${none(view)}${nextCursor || view.pages.number > 1 ? turning(view.pages, nextCursor) : nothing}`;
  }
  return html`<div class="scroll" tabindex="0" role="group" aria-labelledby="dead-letters"><table>
      <caption class="unseen">Dead letters, the latest first</caption>
      <thead><tr>${choosingAll(deadLetters.map((deadLetter) => deadLetter.deadLetterId))}
      <th scope="col">Id</th><th scope="col">Dead-lettered</th><th scope="col" class="number">Failures</th><th scope="col">Cause</th></tr></thead>
      <tbody>${repeat(deadLetters, (deadLetter) => deadLetter.deadLetterId, (deadLetter) => row(queue, deadLetter))}</tbody>
    </table></div>
    ${Object.keys(view.filter).length > 0 ? html`<p class="soft" role="status">${count(deadLetters.length)} of the ${plural(examined, 'dead letter')} examined for this page</p>` : nothing}
    ${turning(view.pages, nextCursor)}`;
}

function actions(queue) {
  if (!may('OPERATE')) {
    return nothing;
  }
  const chosen = [...state.page.chosen];
  return html`<div class="bar" role="group" aria-label="Actions">
    ${Object.entries(DOING).map(([doing, how]) => html`<button type="button" class=${how.danger ? 'risky' : nothing} ?disabled=${chosen.length === 0} @click=${() => askSome(queue, doing, chosen)}>${how.verb}${chosen.length > 0 ? ` (${count(chosen.length)})` : ''} …</button>`)}
    <span class="gap"></span>
    ${Object.entries(DOING).map(([doing, how]) => html`<button type="button" @click=${() => askAll(queue, doing)}>${how.verb}: all matching …</button>`)}
  </div>`;
}

// Frames of the platform, of Spring and of this library, which do not lead to the cause.
const FOREIGN = /^\s*at (?:[\w.]+\/)?(?:java|javax|jdk|sun|io\.delayqueue|org\.springframework)\./;

/** Renders a stack trace: messages stand out, and frames outside of the application are soft. */
function traced(text) {
  return shown(text).split('\n').map((line) => html`<span class=${FOREIGN.test(line) ? 'soft' : /^\s+(at |\.\.\.)/.test(line) ? nothing : 'failure'}>${line}\n</span>`);
}

/** Renders the first line of a cause, with its package in a soft colour. */
function brief(text) {
  const [, path, rest] = /^((?:[a-z_][\w$]*\.)*)(.*)$/s.exec(text);
  return html`<span class="soft">${named(path)}</span>${named(rest)}`;
}

function causes(queue, grouped) {
  if (!grouped || grouped.causes.length === 0) {
    return nothing;
  }
  return html`<section aria-labelledby="causes"><h2 id="causes">Causes</h2>
    <p class="note">${grouped.complete ? '' : html`The latest ${count(grouped.examined)} dead letters. `}Numbers and identifiers in the messages are shown as #.${grouped.masked ? ' Messages are hidden: the authority DELAYQUEUE_PAYLOAD is required to read them.' : ''}</p>
    <div class="scroll" tabindex="0" role="group" aria-labelledby="causes"><table><caption class="unseen">Causes of dead letters, the most frequent first</caption>
      <thead><tr><th scope="col">Cause</th><th scope="col" class="number">Dead letters</th><th scope="col">First</th><th scope="col">Last</th><th scope="col"><span class="unseen">Latest</span></th>${may('OPERATE') ? html`<th scope="col"><span class="unseen">Actions</span></th>` : nothing}</tr></thead>
      <tbody>${repeat(grouped.causes, (one) => one.causeGroup, (one) => html`<tr>
        <th scope="row" class="cause"><a href=${link('queues', queue, 'dead-letters', { causeGroup: one.causeGroup })}>${brief(one.text)}</a></th>
        <td class="number" data-label="Dead letters">${count(one.count)}</td>
        <td data-label="First">${time(one.firstAt)}</td><td data-label="Last">${time(one.lastAt)}</td>
        <td class="whole"><a href=${link('queues', queue, 'dead-letters', one.sampleDeadLetterId)} aria-label=${`The latest: ${named(one.text)}`}>Latest</a></td>
        ${may('OPERATE') ? html`<td class="whole">${Object.entries(DOING).map(([doing, how]) => html`<button type="button" aria-label=${`${how.verb} ${count(one.count)}: ${named(one.text)}`}
          @click=${() => askAll(queue, doing, { causeGroup: one.causeGroup })}>${how.verb}${doing === 'redrive' ? ` ${count(one.count)}` : ''}</button> `)}</td>` : nothing}
      </tr>`)}</tbody></table></div></section>`;
}

export function deadLettersPage() {
  const queue = state.route.queue;
  const view = state.page;
  const filter = view.filter;
  const head = html`${crumbs([queue, link('queues', queue)], ['Dead letters', link('queues', queue, 'dead-letters')])}
    ${title(html`Dead letters of ${name(queue)}`)}`;
  if (view.gone) {
    return html`${head}${noQueue()}`;
  }
  return html`${head}
    <p>Messages that failed for good. A dead letter is kept until it is redriven or purged, or until its retention ends.</p>
    ${causes(queue, view.causes)}
    <section aria-labelledby="dead-letters"><h2 id="dead-letters">Dead letters ${Object.keys(filter).length > 0 ? html`${inWords(filter)} <a class="all" href=${link('queues', queue, 'dead-letters')}>Show all</a>` : nothing}</h2>
    <details ?open=${Object.keys(filter).length > 0}><summary>Filter</summary><form class="bar" @submit=${filterBy}>
      <label>Id begins with <input type="search" name="idPrefix" maxlength="200" .value=${filter.idPrefix ?? ''}></label>
      ${may('PAYLOAD') ? html`<label>Cause contains <input type="search" name="causeContains" maxlength="200" .value=${filter.causeContains ?? ''}></label>` : nothing}
      <label>Group <input type="search" name="group" maxlength="200" .value=${filter.group ?? ''}></label>
      <label>Dead-lettered from <input type="datetime-local" name="deadLetteredFrom" step="1" .value=${local(filter.deadLetteredFrom)}></label>
      <label>Dead-lettered before <input type="datetime-local" name="deadLetteredBefore" step="1" .value=${local(filter.deadLetteredBefore)}></label>
      <button type="submit">Filter</button>
    </form></details>
      ${view.deadLetters ? html`${actions(queue)}${table(queue)}` : loading()}
    </section>`;
}

export function deadLetterPage() {
  const { queue, deadLetterId } = state.route;
  const { deadLetter, gone, unknown } = state.page.opened?.deadLetterId === deadLetterId ? state.page.opened : {};
  const head = crumbs([queue, link('queues', queue)], ['Dead letters', state.page.address ?? link('queues', queue, 'dead-letters')]);
  if (!deadLetter) {
    return html`${head}${title('Dead letter')}${gone && unknown ? noQueue() : gone ? html`<p class="empty" role="status">There is no such dead letter, or no longer: it was redriven or purged, or its retention ended.</p>`
    : loading()}`;
  }
  return html`${head}${title(html`Dead letter ${name(deadLetter.id)}`, html`<span class="push">${copying(deadLetter.id, 'id')}</span>`)}
    ${gone ? html`<p class="alert info" role="status">The dead letter was redriven or purged, or its retention ended. This is its last known state.</p>` : nothing}
    ${!gone && may('OPERATE') ? html`<div class="bar">
      <button type="button" class="primary" @click=${() => askSome(queue, 'redrive', [deadLetterId])}>Redrive …</button>
      <button type="button" class="risky" @click=${() => askSome(queue, 'purge', [deadLetterId])}>Purge …</button></div>` : nothing}
    ${facts([['Dead-lettered', time(deadLetter.deadLetteredAt)], ['Was due', time(deadLetter.dueAt)], ['Group', deadLetter.group && name(deadLetter.group)],
    ['Failures', count(deadLetter.failures)], ['Lapses', count(deadLetter.lapses)], ['Dead-letter id', name(deadLetter.deadLetterId)]])}
    <section aria-labelledby="cause"><div class="with"><h2 id="cause">Cause</h2>${copying(deadLetter.cause, 'cause')}</div>${deadLetter.masked ? html`<p class="note">Parts that may quote the payload are hidden: the authority DELAYQUEUE_PAYLOAD is required to read them.</p>` : nothing}<pre class="trace" tabindex="0" role="group" aria-labelledby="cause">${traced(deadLetter.cause)}</pre></section>
    ${deadLetter.firstFailure ? html`<section aria-labelledby="first"><h2 id="first">First failure</h2><pre tabindex="0" role="group" aria-labelledby="first">${shown(deadLetter.firstFailure)}</pre></section>` : nothing}
    ${content(deadLetter)}`;
}

// The dead letters of a queue: why they died, and redrive and purge, by filter too.

import { html, nothing } from './lib/lit-html.js';
import { repeat } from './lib/directives/repeat.js';
import { count, moment, named, plural, shown } from './format.js';
import { ask, changed, may, queuePath, state } from './store.js';
import { crumbs, link, loading, name, time, title } from './frame.js';
import { confirm, tell } from './dialog.js';
import { content, facts } from './message.js';

const PAGE = 50;
const STEPS = 10;

const DOING = {
  redrive: { verb: 'Redrive', done: 'redriven', text: 'Their messages become due now, and their attempts start anew.', one: 'Its message becomes due now, and its attempts start anew.' },
  purge: { verb: 'Purge', done: 'purged', danger: true, text: 'They are removed for good, with payload and cause.', one: 'It is removed for good, with payload and cause.' },
};

const FILTERS = ['idPrefix', 'causeContains', 'group', 'diedFrom', 'diedBefore'];

function listing() {
  state.page.cursors ??= [null];
  state.page.chosen ??= new Set();
  state.page.filter ??= {};
  return state.page;
}

export async function loadLetters(route) {
  const view = listing();
  const letters = await lettersFrom(route.queue, view.filter, view.cursors.at(-1));
  if (state.page === view) {
    view.letters = letters;
  }
}

export async function loadLetter(route) {
  const view = listing();
  const { letterId } = route;
  view.opened = view.opened?.letterId === letterId ? view.opened : { letterId };
  const { opened } = view;
  try {
    opened.letter = await ask('GET', `${queuePath(route.queue)}/dead-letter`, { letterId });
    opened.gone = false;
  }
  catch (failure) {
    if (failure.status !== 404) {
      throw failure;
    }
    opened.gone = true;
  }
}

/** With a filter a step may bring few or none, so it goes on until there is a page, or for some steps. */
async function lettersFrom(queue, filter, from) {
  const found = [];
  let cursor = from;
  for (let steps = 0; steps < STEPS; steps++) {
    const some = await ask('POST', `${queuePath(queue)}/dead-letters/matching`, { limit: PAGE }, { filter, cursor });
    found.push(...some.letters);
    cursor = some.nextCursor;
    if (!cursor || found.length >= PAGE) {
      break;
    }
  }
  return { letters: found, nextCursor: cursor };
}

/** Goes through all dead letters in steps, each of which the server ends soon. A dry run only counts. */
async function sweep(queue, doing, dryRun, filter, progress = () => true) {
  const all = { matched: 0, changed: 0, stopped: false, diedBefore: null };
  let cursor = null;
  do {
    const step = await ask('POST', `${queuePath(queue)}/dead-letters/${doing}-matching`, {}, { dryRun, filter, cursor });
    all.matched += step.matched;
    all.changed += step.changed;
    all.diedBefore ??= step.diedBefore;
    cursor = step.nextCursor;
    if (cursor && !progress(`${count(all.changed)} done`)) {
      all.stopped = true;
      break;
    }
  } while (cursor);
  return all;
}

function again(changes) {
  Object.assign(state.page, { letters: null, chosen: new Set(), cursors: [null] }, changes);
  changed();
  document.dispatchEvent(new CustomEvent('dashboard:look'));
}

function filterBy(event) {
  event.preventDefault();
  const form = new FormData(event.target);
  const filter = {};
  FILTERS.filter((field) => form.get(field)).forEach((field) => {
    filter[field] = field.startsWith('died') ? new Date(form.get(field)).toISOString() : form.get(field);
  });
  again({ filter });
}

/** As the field for a time wants it; one that was given up to the second. */
function local(iso) {
  if (!iso) {
    return '';
  }
  const at = new Date(iso);
  return new Date(at - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

function inWords(filter) {
  const parts = [
    filter.idPrefix && html`its id begins with ${name(filter.idPrefix)}`,
    filter.causeContains && html`its cause contains ${name(filter.causeContains)}`,
    filter.group && html`its group is ${name(filter.group)}`,
    filter.diedFrom && html`it died at or after ${time(filter.diedFrom)}`,
    filter.diedBefore && html`it died before ${time(filter.diedBefore)}`,
  ].filter(Boolean);
  return parts.length === 0 ? 'of the queue' : html`of which: ${parts.map((part, index) => html`${index > 0 ? ', and ' : ''}${part}`)}`;
}

function askSome(queue, doing, letterIds) {
  const how = DOING[doing];
  confirm({
    title: `${how.verb}: ${plural(letterIds.length, 'dead letter')}?`,
    text: html`<p>${letterIds.length === 1 ? how.one : how.text}</p>`,
    confirm: `${how.verb}: ${plural(letterIds.length, 'dead letter')}`,
    danger: how.danger,
    act: async (form, progress) => {
      let done = 0;
      const kept = [];
      for (const letterId of letterIds) {
        if (!progress(`${count(done)} of ${count(letterIds.length)} done`)) {
          break;
        }
        try {
          await ask('POST', `${queuePath(queue)}/dead-letters/${doing}`, {}, { letterId });
          done++;
        }
        catch (failure) {
          if (failure.status !== 404 && failure.status !== 409 && failure.status !== 422) {
            throw failure;
          }
          kept.push(failure.message);
        }
      }
      state.page.chosen = new Set();
      if (state.route.page === 'letter') {
        location.hash = link('queues', queue, 'dead-letters');
      }
      return `${plural(done, 'dead letter')} ${how.done}${kept.length > 0 ? `; ${count(kept.length)} left: ${kept[0]}` : ''}`;
    },
  });
}

async function askAll(queue, doing) {
  const how = DOING[doing];
  const filter = state.page.filter;
  tell('Counting …');
  try {
    const { matched: number, diedBefore } = await sweep(queue, doing, true, filter);
    if (number === 0) {
      tell('No dead letter matches');
      return;
    }
    tell('');
    confirm({
      title: number === 1 ? `${how.verb}: the dead letter that matches?` : `${how.verb}: all ${plural(number, 'dead letter')} that match?`,
      text: html`<p>${number === 1 ? 'That' : 'Those'} ${inWords(filter)}. There ${number === 1 ? 'is' : 'are'} ${count(number)} now. ${number === 1 ? how.one : how.text}</p>`,
      confirm: `${how.verb}: ${plural(number, 'dead letter')}`,
      danger: how.danger,
      act: async (form, progress) => {
        const done = await sweep(queue, doing, false, { ...filter, diedBefore }, progress);
        const left = done.matched - done.changed;
        return `${plural(done.changed, 'dead letter')} ${how.done}${left > 0 ? `; ${count(left)} left, as a message of their id waits or they have no content` : ''}${done.stopped ? '; stopped' : ''}`;
      },
    });
  }
  catch (problem) {
    tell(`Nothing was done: ${problem.message}`);
  }
}

function choose(id, chosen) {
  const all = new Set(state.page.chosen);
  chosen ? all.add(id) : all.delete(id);
  state.page.chosen = all;
  changed();
}

function row(queue, letter) {
  return html`<tr>
    ${may('OPERATE') ? html`<td class="choice"><input type="checkbox" aria-label=${`Choose ${named(letter.id)}, died ${moment(letter.diedAt)}`} .checked=${state.page.chosen.has(letter.letterId)}
      @change=${(event) => choose(letter.letterId, event.target.checked)}></td>` : nothing}
    <th scope="row"><a href=${link('queues', queue, 'dead-letters', letter.letterId)}>${name(letter.id)}</a></th>
    <td data-label="Died">${time(letter.diedAt)}</td>
    <td class="number" data-label="Failures">${count(letter.failures)}</td>
    <td class="cause" data-label="Cause">${named(letter.cause.split('\n')[0])}</td>
  </tr>`;
}

function table(queue) {
  const view = state.page;
  const letters = view.letters.letters;
  if (letters.length === 0) {
    return html`<p class="empty">${Object.keys(view.filter).length > 0 ? 'No dead letter matches.' : 'There are no dead letters.'}</p>`;
  }
  const all = letters.every((letter) => view.chosen.has(letter.letterId));
  return html`<div class="scroll" tabindex="0" role="group" aria-labelledby="letters"><table>
      <caption class="unseen">Dead letters, the latest first</caption>
      <thead><tr>${may('OPERATE') ? html`<th scope="col" class="choice"><input type="checkbox" aria-label="Choose all of this page" .checked=${all}
        @change=${(event) => {
    view.chosen = new Set(event.target.checked ? letters.map((letter) => letter.letterId) : []);
    changed();
  }}></th>` : nothing}
      <th scope="col">Id</th><th scope="col">Died</th><th scope="col" class="number">Failures</th><th scope="col">Cause</th></tr></thead>
      <tbody>${repeat(letters, (letter) => letter.letterId, (letter) => row(queue, letter))}</tbody>
    </table></div>
    <div class="bar"><button type="button" ?disabled=${view.cursors.length < 2} @click=${() => again({ cursors: view.cursors.slice(0, -1) })}>Previous page</button>
      <span class="soft">Page ${count(view.cursors.length)}</span>
      <button type="button" ?disabled=${!view.letters.nextCursor} @click=${() => again({ cursors: [...view.cursors, view.letters.nextCursor] })}>Next page</button></div>`;
}

function actions(queue) {
  if (!may('OPERATE')) {
    return nothing;
  }
  const chosen = [...state.page.chosen];
  return html`<div class="bar" role="group" aria-label="Actions">
    ${Object.entries(DOING).map(([doing, how]) => html`<button type="button" ?disabled=${chosen.length === 0} @click=${() => askSome(queue, doing, chosen)}>${how.verb}${chosen.length > 0 ? ` (${count(chosen.length)})` : ''} …</button>`)}
    <span class="gap"></span>
    ${Object.entries(DOING).map(([doing, how]) => html`<button type="button" @click=${() => askAll(queue, doing)}>${how.verb}: all that match …</button>`)}
  </div>`;
}

export function lettersPage() {
  const queue = state.route.queue;
  const view = listing();
  const filter = view.filter;
  return html`${crumbs([queue, link('queues', queue)], ['Dead letters', link('queues', queue, 'dead-letters')])}
    ${title(html`Dead letters of ${name(queue)}`)}
    <p>Messages that are not tried again. A letter is kept until somebody redrives or purges it, or its retention is over.</p>
    <form class="bar" @submit=${filterBy}>
      <label>Id begins with <input type="search" name="idPrefix" maxlength="200" value=${filter.idPrefix ?? ''}></label>
      ${may('PAYLOAD') ? html`<label>Cause contains <input type="search" name="causeContains" maxlength="200" value=${filter.causeContains ?? ''}></label>` : nothing}
      <label>Group <input type="search" name="group" maxlength="200" value=${filter.group ?? ''}></label>
      <label>Died from <input type="datetime-local" name="diedFrom" step="1" value=${local(filter.diedFrom)}></label>
      <label>Died before <input type="datetime-local" name="diedBefore" step="1" value=${local(filter.diedBefore)}></label>
      <button type="submit">Filter</button>
    </form>
    <section aria-labelledby="letters"><h2 id="letters">Dead letters ${Object.keys(view.filter).length > 0 ? inWords(view.filter) : nothing}</h2>
      ${view.letters ? html`${actions(queue)}${table(queue)}` : loading()}
    </section>`;
}

export function letterPage() {
  const { queue, letterId } = state.route;
  const { letter, gone } = state.page.opened?.letterId === letterId ? state.page.opened : {};
  const head = crumbs([queue, link('queues', queue)], ['Dead letters', link('queues', queue, 'dead-letters')]);
  if (!letter) {
    return html`${head}${title('Dead letter')}${gone ? html`<p class="empty" role="status">It is not there, or not any more: somebody has redriven or purged it, or its retention is over.</p>`
    : loading()}`;
  }
  return html`${head}${title(html`Dead letter ${name(letter.id)}`)}
    ${gone ? html`<p class="problem info" role="status">It is gone by now: somebody has redriven or purged it, or its retention is over. This is how it was.</p>` : nothing}
    ${!gone && may('OPERATE') ? html`<div class="bar">
      <button type="button" class="primary" @click=${() => askSome(queue, 'redrive', [letterId])}>Redrive …</button>
      <button type="button" @click=${() => askSome(queue, 'purge', [letterId])}>Purge …</button></div>` : nothing}
    ${facts([['Died', time(letter.diedAt)], ['Was due', time(letter.dueAt)], ['Group', letter.group && name(letter.group)],
    ['Failures', count(letter.failures)], ['Leases that ran out', count(letter.lapses)], ['Letter', name(letter.letterId)]])}
    <section aria-labelledby="cause"><h2 id="cause">Cause</h2>${letter.masked ? html`<p class="note">What may quote the payload is hidden: it takes the authority DELAYQUEUE_PAYLOAD to read it.</p>` : nothing}<pre tabindex="0" role="group" aria-labelledby="cause">${shown(letter.cause)}</pre></section>
    ${letter.firstFailure ? html`<section aria-labelledby="first"><h2 id="first">First failure</h2><pre tabindex="0" role="group" aria-labelledby="first">${shown(letter.firstFailure)}</pre></section>` : nothing}
    ${content(letter)}`;
}

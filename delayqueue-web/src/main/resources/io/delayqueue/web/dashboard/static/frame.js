// Renders the frame of every view.

import { html, nothing } from './lib/lit-html.js';
import { countdown, moment, named, offset, zone } from './format.js';
import { now, state } from './store.js';
import { ICONS } from './icons.js';
import { isStale, outage } from './outage.js';
import { searchBox } from './search.js';

export function name(text) {
  return html`<bdi class="name">${named(text)}</bdi>`;
}

export function time(iso) {
  return iso ? html`<time datetime=${iso} title=${iso}>${moment(iso)}</time>` : '–';
}

/** Renders a time as a countdown. */
export function until(iso) {
  return iso ? html`<time datetime=${iso} title=${moment(iso)}>${countdown(iso, now())}</time>` : '–';
}

function entry(page, text, badge) {
  const current = state.route.page === page || (state.route.page === 'node' && page === 'nodes');
  return html`<li><a href=${page === 'overview' ? '#/' : `#/${page}`} aria-current=${current ? 'page' : nothing}>${text}${badge}</a></li>`;
}

export function frame(view) {
  const alerts = new Set(state.overview?.alerts.filter(({ severity }) => severity !== 'info').map((alert) => alert.title)).size;
  return html`
    <header>
      <a class="brand" href="#/">${ICONS.brand}DelayQueue</a>
      <nav aria-label="Pages"><ul>
        ${entry('overview', 'Queues', nothing)}
        ${entry('schedules', 'Schedules', nothing)}
        ${entry('alerts', 'Alerts', alerts > 0 ? html` <span class="badge">${alerts}<span class="unseen"> open</span></span>` : nothing)}
        ${entry('nodes', 'Nodes', nothing)}
      </ul></nav>
      ${searchBox()}
      <div class="session">
        <button type="button" aria-pressed=${!state.live} @click=${() => document.dispatchEvent(
    new CustomEvent('dashboard:live', { detail: !state.live }))}>Pause updates</button>
        <span class="zone" title=${`All times are in this time zone: ${zone()}`}><span class="long">${zone()}</span><span class="short">${offset()}</span></span>
        ${state.overview ? html`<span class="principal" title="Signed in as">${named(state.overview.principal)}</span>` : nothing}
      </div>
    </header>
    <main id="main" tabindex="-1" class=${isStale() ? 'stale' : nothing}>
      ${outage()}
      ${view}
    </main>`;
}

/** Renders that the queue of the address does not exist. */
export function noQueue() {
  return html`<p class="empty" role="status">There is no queue of this name: it holds nothing, and no node has used it.</p>`;
}

export function loading() {
  return state.failure ? nothing : html`<p class="loading">Loading …</p>`;
}

export function crumbs(...steps) {
  return trail(html`<a href=${state.overviewAddress}>Queues</a>`, ...steps);
}

/** Renders the way to a view that belongs to no queue. */
export function trail(first, ...steps) {
  return html`<nav class="crumbs" aria-label="Breadcrumb"><ol>
    <li>${first}</li>${steps.map(([text, href]) => html`<li><a href=${href}>${name(text)}</a></li>`)}
  </ol></nav>`;
}

/** Renders the title of a view, and beside it its actions. */
export function title(content, actions = null) {
  const heading = html`<h1 tabindex="-1">${content}</h1>`;
  return actions ? html`<div class="head">${heading}${actions}</div>` : heading;
}
